// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// The approval by signature of EIP-2612, and nothing else of a token.
contract Permit {
    bytes32 private constant TYPE =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256("Permit"), keccak256("1"), block.chainid, address(this)));
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "expired");
        bytes32 message = keccak256(abi.encode(TYPE, owner, spender, value, nonces[owner]++, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message)), v, r, s);
        require(signer != address(0) && signer == owner, "signature");
        allowance[owner][spender] = value;
    }
}
