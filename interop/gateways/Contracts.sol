// SPDX-License-Identifier: MIT
pragma solidity ^0.8.23;

import {GatewayFetchTarget} from '@unruggable/gateways/contracts/GatewayFetchTarget.sol';
import {GatewayRequest} from '@unruggable/gateways/contracts/GatewayRequest.sol';
import {IGatewayVerifier} from '@unruggable/gateways/contracts/IGatewayVerifier.sol';

/// On layer 1: what a reader of a rollup uses. No proof of a finalization is checked.
contract Rollup {
    uint256 public currentL2BlockNumber;
    mapping(uint256 => bytes32) public stateRootHashes;

    event DataFinalizedV3(
        uint256 indexed startBlockNumber,
        uint256 indexed endBlockNumber,
        bytes32 indexed shnarf,
        bytes32 parentStateRootHash,
        bytes32 finalStateRootHash
    );

    constructor(bytes32 root) {
        stateRootHashes[0] = root;
    }

    function finalize(uint256 end, bytes32 root) external {
        uint256 start = currentL2BlockNumber + 1;
        bytes32 parent = stateRootHashes[currentL2BlockNumber];
        stateRootHashes[end] = root;
        currentL2BlockNumber = end;
        emit DataFinalizedV3(start, end, keccak256(abi.encode(start, end, parent, root)), parent, root);
    }
}

/// On layer 1: reads whatever a request says, by CCIP-Read through a gateway.
contract Reader is GatewayFetchTarget {
    function read(IGatewayVerifier verifier, GatewayRequest memory request) external view returns (bytes[] memory, uint8) {
        fetch(verifier, request, this.done.selector);
    }

    function done(bytes[] memory values, uint8 exitCode, bytes memory) external pure returns (bytes[] memory, uint8) {
        return (values, exitCode);
    }
}

/// On layer 2: what is read.
contract Data {
    uint256 one = 49; // slot 0
    string short_ = 'Satoshi'; // 1
    string long_ = 'a string that is longer than the thirty-one bytes of one slot, so that it has slots of its own'; // 2
    string missing_; // 3
    mapping(uint256 => string) byNumber; // 4
    mapping(string => string) byName; // 5
    address pointer; // 6: another contract of this kind
    uint256 cleared = 1; // 7
    uint256 max = type(uint256).max; // 8
    mapping(string => mapping(uint256 => uint256)) nested; // 9
    mapping(uint256 => bytes) blobs; // 10
    uint256[] words; // 11
    uint64[] smalls; // 12
    address eoa = 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266; // 13
    address nobody = address(0xab); // 14

    constructor(address next) {
        pointer = next;
        byNumber[1] = 'Hal Finney';
        byNumber[2] = 'another name that is longer than the thirty-one bytes of one slot';
        byName['Money Skeleton'] = 'Vitalik Buterin';
        nested['a'][7] = 77;
        for (uint256 i = 1; i < 6; i++) words.push(i * 1000);
        for (uint64 i = 1; i < 8; i++) smalls.push(i);
        blobs[31] = filled(31);
        blobs[32] = filled(32);
        blobs[333] = filled(333);
        cleared = 0;
    }

    function filled(uint256 length) private pure returns (bytes memory made) {
        made = new bytes(length);
        for (uint256 i; i < length; i++) made[i] = bytes1(uint8(i + 1));
    }

    function set(uint256 slot, uint256 value) external {
        assembly {
            sstore(slot, value)
        }
    }

    /// Entries of a mapping at slot 20.
    function fill(uint256 from, uint256 to) external {
        for (uint256 i = from; i < to; i++) {
            bytes32 slot = keccak256(abi.encode(i, 20));
            assembly {
                sstore(slot, add(i, 1))
            }
        }
    }
}

/// On layer 2: a contract without storage.
contract Empty {}
