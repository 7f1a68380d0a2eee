// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token that holds all that it says of itself in its storage: balances, symbol and decimals in slots 0, 1 and 2.
contract Named {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;
    string public symbol;
    uint8 public decimals;

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
