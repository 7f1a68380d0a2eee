// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A token with approvals (EIP-2612) and transfers (ERC-3009) by signature. Anyone may mint.
contract SignedToken {
    string public constant symbol = "SIGN";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256("Signed"), keccak256("1"), block.chainid, address(this)));
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "expired");
        bytes32 t = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        check(owner, keccak256(abi.encode(t, owner, spender, value, nonces[owner]++, deadline)), v, r, s);
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "time");
        require(!authorizationState[from][nonce], "used");
        bytes32 t = keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
        check(from, keccak256(abi.encode(t, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        authorizationState[from][nonce] = true;
        move(from, to, value);
    }

    function check(address signer, bytes32 message, uint8 v, bytes32 r, bytes32 s) private view {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message));
        require(signer != address(0) && ecrecover(digest, v, r, s) == signer, "signature");
    }

    function move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// The parts of Permit2 that signatures use, with its interface, its events and its domain.
contract Permits {
    struct PermitDetails { address token; uint160 amount; uint48 expiration; uint48 nonce; }
    struct PermitSingle { PermitDetails details; address spender; uint256 sigDeadline; }
    struct PermitBatch { PermitDetails[] details; address spender; uint256 sigDeadline; }
    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct SignatureTransferDetails { address to; uint256 requestedAmount; }
    struct Packed { uint160 amount; uint48 expiration; uint48 nonce; }

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;
    mapping(address => mapping(address => mapping(address => Packed))) public allowance;

    event Permit(
        address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration, uint48 nonce
    );

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256("Permit2"), block.chainid, address(this)));
    }

    function permit(address owner, PermitSingle memory p, bytes calldata signature) external {
        require(block.timestamp <= p.sigDeadline, "expired");
        bytes32 t = keccak256("PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
        check(owner, keccak256(abi.encode(t, hashOf(p.details), p.spender, p.sigDeadline)), signature);
        set(owner, p.spender, p.details);
    }

    function permit(address owner, PermitBatch memory p, bytes calldata signature) external {
        require(block.timestamp <= p.sigDeadline, "expired");
        bytes32[] memory hashes = new bytes32[](p.details.length);
        for (uint256 i; i < hashes.length; i++) hashes[i] = hashOf(p.details[i]);
        bytes32 t = keccak256("PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
        check(owner, keccak256(abi.encode(t, keccak256(abi.encodePacked(hashes)), p.spender, p.sigDeadline)), signature);
        for (uint256 i; i < hashes.length; i++) set(owner, p.spender, p.details[i]);
    }

    function permitTransferFrom(
        PermitTransferFrom memory p, SignatureTransferDetails calldata to, address owner, bytes calldata signature
    ) external {
        bytes32 t = keccak256("PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)");
        useNonce(owner, p.nonce, p.deadline);
        require(to.requestedAmount <= p.permitted.amount, "amount");
        check(owner, keccak256(abi.encode(t, permitted(p.permitted), msg.sender, p.nonce, p.deadline)), signature);
        SignedToken(p.permitted.token).transferFrom(owner, to.to, to.requestedAmount);
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom memory p, SignatureTransferDetails calldata to, address owner, bytes32 witness,
        string calldata witnessType, bytes calldata signature
    ) external {
        bytes32 t = keccak256(abi.encodePacked("PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,", witnessType));
        useNonce(owner, p.nonce, p.deadline);
        require(to.requestedAmount <= p.permitted.amount, "amount");
        check(owner, keccak256(abi.encode(t, permitted(p.permitted), msg.sender, p.nonce, p.deadline, witness)), signature);
        SignedToken(p.permitted.token).transferFrom(owner, to.to, to.requestedAmount);
    }

    function permitted(TokenPermissions memory p) private pure returns (bytes32) {
        return keccak256(abi.encode(keccak256("TokenPermissions(address token,uint256 amount)"), p.token, p.amount));
    }

    function hashOf(PermitDetails memory d) private pure returns (bytes32) {
        bytes32 t = keccak256("PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
        return keccak256(abi.encode(t, d.token, d.amount, d.expiration, d.nonce));
    }

    function set(address owner, address spender, PermitDetails memory d) private {
        Packed storage held = allowance[owner][d.token][spender];
        require(held.nonce == d.nonce, "nonce");
        allowance[owner][d.token][spender] = Packed(d.amount, d.expiration == 0 ? uint48(block.timestamp) : d.expiration, d.nonce + 1);
        emit Permit(owner, d.token, spender, d.amount, d.expiration, d.nonce);
    }

    function useNonce(address owner, uint256 nonce, uint256 deadline) private {
        require(block.timestamp <= deadline, "expired");
        uint256 bit = 1 << (nonce & 255);
        require(nonceBitmap[owner][nonce >> 8] & bit == 0, "nonce");
        nonceBitmap[owner][nonce >> 8] |= bit;
    }

    function check(address signer, bytes32 message, bytes calldata signature) private view {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message));
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        require(signer != address(0) && ecrecover(digest, uint8(signature[64]), r, s) == signer, "signature");
    }
}

/// Part of a Safe: a nonce and its domain.
contract SafeLike {
    uint256 public nonce;

    function domainSeparator() external view returns (bytes32) {
        return keccak256(abi.encode(keccak256("EIP712Domain(uint256 chainId,address verifyingContract)"), block.chainid, address(this)));
    }

    receive() external payable {}
}

/// The permit of Dai: the nonce stands in the call, and what is allowed is all or nothing.
contract DaiLike {
    mapping(address => uint256) public nonces;
    mapping(address => mapping(address => uint256)) public allowance;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256("Signed"), keccak256("1"), block.chainid, address(this)));
    }

    function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)
        external
    {
        bytes32 t = keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
        bytes32 message = keccak256(abi.encode(t, holder, spender, nonce, expiry, allowed));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message));
        require(holder != address(0) && ecrecover(digest, v, r, s) == holder, "signature");
        require(expiry == 0 || block.timestamp <= expiry, "expired");
        require(nonce == nonces[holder]++, "nonce");
        allowance[holder][spender] = allowed ? type(uint256).max : 0;
    }
}
