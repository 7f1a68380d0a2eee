// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// What the factory makes: remembers who made it, and with what seed.
contract Child {
    address public maker;
    uint256 public seed;

    constructor(uint256 seed_) {
        maker = msg.sender;
        seed = seed_;
    }
}

contract Factory {
    Child public newest;
    uint256 public count;

    event Made(address child, uint256 seed);

    function make(uint256 seed) external {
        newest = new Child(seed);
        count++;
        emit Made(address(newest), seed);
    }

    function makeAt(uint256 seed, bytes32 salt) external {
        newest = new Child{salt: salt}(seed);
        count++;
        emit Made(address(newest), seed);
    }
}

/// Runs the code of another contract on its own storage. Its address is in the slot that ERC-1967 names.
contract Proxy {
    bytes32 private constant IMPLEMENTATION = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(IMPLEMENTATION), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
