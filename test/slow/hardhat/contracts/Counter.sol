// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Counter {
    uint256 public number;
    event Set(address indexed by, uint256 value);
    error TooBig(uint256 value);

    constructor(uint256 start) {
        number = start;
    }

    function set(uint256 value) external {
        if (value > 1000) revert TooBig(value);
        number = value;
        emit Set(msg.sender, value);
    }

    function randao() external view returns (uint256) {
        return block.prevrandao;
    }
}
