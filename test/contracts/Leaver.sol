// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Destroys itself. Since Cancun only the money goes, except within the transaction that created it.
contract Leaver {
    uint256 public notes;

    constructor() payable {
        notes = 7;
    }

    function leave(address payable to) external {
        selfdestruct(to);
    }
}

contract BriefLife {
    uint256 public lives;

    /// Creates a contract and destroys it in the same transaction.
    function liveAndLeave(address payable to) external payable {
        Leaver leaver = new Leaver{value: msg.value}();
        leaver.leave(to);
        lives++;
    }
}
