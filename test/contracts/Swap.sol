// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Two tokens whose product of reserves never falls; 0.3 % of what comes in stays.
/// Storage: tokens at slots 0 and 1, reserves with their time packed at 2, price sums at 3 and 4, the lock at 5.
contract Pair {
    Token public token0;
    Token public token1;
    uint112 public reserve0;
    uint112 public reserve1;
    uint32 public lastChange;
    uint256 public priceSum0;
    uint256 public priceSum1;
    uint256 private unlocked;

    event Swapped(address indexed by, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to);
    event Synced(uint112 reserve0, uint112 reserve1);

    error Locked();
    error NotEnoughReserve();
    error ProductFell();

    function reserves() external view returns (uint112, uint112, uint32) {
        return (reserve0, reserve1, lastChange);
    }

    /// Hands out what is asked; what pays for it has to be here already.
    function swap(uint256 out0, uint256 out1, address to) external {
        if (unlocked != 1) revert Locked();
        unlocked = 0;
        (uint112 before0, uint112 before1) = (reserve0, reserve1);
        if (out0 >= before0 || out1 >= before1) revert NotEnoughReserve();
        if (out0 > 0) token0.transfer(to, out0);
        if (out1 > 0) token1.transfer(to, out1);
        uint256 balance0 = token0.balanceOf(address(this));
        uint256 balance1 = token1.balanceOf(address(this));
        uint256 in0 = balance0 + out0 - before0;
        uint256 in1 = balance1 + out1 - before1;
        uint256 product = (balance0 * 1000 - in0 * 3) * (balance1 * 1000 - in1 * 3);
        if (product < uint256(before0) * before1 * 1_000_000) revert ProductFell();
        sync(balance0, balance1, before0, before1);
        emit Swapped(msg.sender, in0, in1, out0, out1, to);
        unlocked = 1;
    }

    function sync(uint256 balance0, uint256 balance1, uint112 before0, uint112 before1) private {
        uint32 time = uint32(block.timestamp);
        unchecked {
            uint32 elapsed = time - lastChange;
            if (elapsed > 0 && before0 > 0 && before1 > 0) {
                priceSum0 += ((uint256(before1) << 112) / before0) * elapsed;
                priceSum1 += ((uint256(before0) << 112) / before1) * elapsed;
            }
        }
        (reserve0, reserve1, lastChange) = (uint112(balance0), uint112(balance1), time);
        emit Synced(reserve0, reserve1);
    }
}

/// Swaps along a path of tokens. Storage: the pair of two tokens, by both orders, in the mapping at slot 0.
contract Router {
    mapping(address => mapping(address => Pair)) public pairOf;

    error NoPair(address from, address to);
    error TooLittle(uint256 out, uint256 wanted);

    function swap(uint256 amountIn, uint256 leastOut, address[] calldata path, address to) external returns (uint256) {
        uint256 last = path.length - 1;
        uint256[] memory amounts = quote(amountIn, path);
        if (amounts[last] < leastOut) revert TooLittle(amounts[last], leastOut);
        Token(path[0]).transferFrom(msg.sender, address(pairOf[path[0]][path[1]]), amountIn);
        for (uint256 i = 0; i < last; i++) {
            Pair pair = pairOf[path[i]][path[i + 1]];
            address receiver = i + 1 < last ? address(pairOf[path[i + 1]][path[i + 2]]) : to;
            bool forward = address(pair.token0()) == path[i];
            pair.swap(forward ? 0 : amounts[i + 1], forward ? amounts[i + 1] : 0, receiver);
        }
        return amounts[last];
    }

    function quote(uint256 amountIn, address[] calldata path) public view returns (uint256[] memory amounts) {
        amounts = new uint256[](path.length);
        amounts[0] = amountIn;
        for (uint256 i = 0; i + 1 < path.length; i++) {
            Pair pair = pairOf[path[i]][path[i + 1]];
            if (address(pair) == address(0)) revert NoPair(path[i], path[i + 1]);
            (uint112 held0, uint112 held1,) = pair.reserves();
            bool forward = address(pair.token0()) == path[i];
            (uint256 from, uint256 out) = forward ? (held0, held1) : (held1, held0);
            uint256 paid = amounts[i] * 997;
            amounts[i + 1] = (paid * out) / (from * 1000 + paid);
        }
    }
}
