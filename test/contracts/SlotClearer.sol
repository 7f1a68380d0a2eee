// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Fills 24 slots, and clears them, which gives the largest refund there is. Storage: the cells at slots 0 to 23.
contract SlotClearer {
    uint256[24] public cells;

    function fill() external {
        for (uint256 i = 0; i < 24; i++) cells[i] = i + 1;
    }

    function clear() external {
        for (uint256 i = 0; i < 24; i++) delete cells[i];
    }
}
