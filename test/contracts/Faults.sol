// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Every way to fail.
contract Faults {
    uint256 public rounds;

    error Refused(address who, uint256 amount);

    function refuse(uint256 amount) external {
        rounds = amount;
        revert Refused(msg.sender, amount);
    }

    function refuseWithText() external pure {
        revert("not today");
    }

    function refuseSilently() external pure {
        assembly {
            revert(0, 0)
        }
    }

    function divideByZero(uint256 value) external view returns (uint256) {
        return value / (rounds - rounds);
    }

    /// Ends only when the gas does.
    function loopForEver() external pure {
        assembly {
            for {} 1 {} {}
        }
    }

    /// Writes until the gas runs out.
    function fillForEver() external {
        for (uint256 i = 0;; i++) {
            assembly {
                sstore(i, add(i, 1))
            }
        }
    }

    function stopBadly() external pure {
        assembly {
            invalid()
        }
    }
}
