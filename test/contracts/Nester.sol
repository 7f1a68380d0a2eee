// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Calls itself, and works at the bottom. Each call keeps a 64th of the gas back, so the transaction needs more than it uses.
contract Nester {
    uint256 public done;

    event Missed(uint256 depth);

    /// Nothing is caught: when the bottom runs out of gas, everything fails.
    function dive(uint256 depth, uint256 rounds) external {
        if (depth == 0) work(rounds);
        else this.dive(depth - 1, rounds);
    }

    /// Goes on when the call below fails: succeeds with less gas than a complete run takes.
    function tryDive(uint256 depth, uint256 rounds) external {
        if (depth == 0) return work(rounds);
        try this.tryDive(depth - 1, rounds) {}
        catch {
            emit Missed(depth);
        }
    }

    function work(uint256 rounds) private {
        bytes32 sum = bytes32(rounds);
        for (uint256 i = 0; i < rounds; i++) sum = keccak256(abi.encode(sum));
        done = uint256(sum);
    }
}
