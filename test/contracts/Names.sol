// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/*
 * A name service for tests, with the functions of ENSIP-1, -3, -9 and -10. Nobody owns a name: anyone may set anything. No contract has a
 * constructor, so that code alone makes one.
 */

contract NameRegistry {
    mapping(bytes32 => address) public resolver;

    function setResolver(bytes32 node, address to) external {
        resolver[node] = to;
    }
}

contract NameRecords {
    mapping(bytes32 => mapping(uint256 => bytes)) records;
    mapping(bytes32 => string) public name;

    function setAddress(bytes32 node, uint256 coinType, bytes calldata to) external {
        records[node][coinType] = to;
    }

    function setName(bytes32 node, string calldata to) external {
        name[node] = to;
    }

    function addr(bytes32 node) external view returns (address) {
        return address(bytes20(records[node][60]));
    }

    function addr(bytes32 node, uint256 coinType) external view returns (bytes memory) {
        return records[node][coinType];
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7;
    }
}

/// Gives each name the address that ends the hash of its first label. Labels of one byte have none.
contract NameWildcard {
    function resolve(bytes calldata name, bytes calldata data) external pure returns (bytes memory) {
        uint8 length = uint8(name[0]);
        if (length == 1) return "";
        require(bytes4(data) == 0x3b3b57de, "addr only");
        return abi.encode(address(uint160(uint256(keccak256(name[1:1 + length])))));
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x9061b923;
    }
}

/// Asks for a server, as EIP-3668 says.
contract NameOffchain {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    function resolve(bytes calldata, bytes calldata data) external view returns (bytes memory) {
        string[] memory urls = new string[](1);
        urls[0] = "http://127.0.0.1:9/{sender}/{data}.json";
        revert OffchainLookup(address(this), urls, data, this.callback.selector, "");
    }

    function callback(bytes calldata, bytes calldata) external pure returns (bytes memory) {
        return abi.encode(address(1));
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x9061b923;
    }
}

/// Does with each function what it was told: 0 returns bytes, 1 reverts with them, 2 never ends, 3 is an invalid instruction, 4
/// returns as many zeros as the bytes say.
contract NameHostile {
    mapping(bytes4 => uint256) modes;
    mapping(bytes4 => bytes) answers;

    function tell(bytes4 selector, uint256 mode, bytes calldata answer) external {
        modes[selector] = mode;
        answers[selector] = answer;
    }

    fallback() external {
        bytes memory answer = answers[msg.sig];
        uint256 mode = modes[msg.sig];
        uint256 count = 0;
        while (mode == 2) count++;
        assembly {
            if eq(mode, 3) { invalid() }
            if eq(mode, 1) { revert(add(answer, 32), mload(answer)) }
            if eq(mode, 4) { return(0, mload(add(answer, 32))) }
            return(add(answer, 32), mload(answer))
        }
    }
}
