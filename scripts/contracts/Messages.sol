// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/*
 * The two ends of the bridge of a devnet. Slots, events, errors and the order of checks are those of docs/spec/messages.md; the code is
 * plumbline's own. What is left out: roles, upgrades, and on layer 2 the rate limit and the pauses.
 */

/** What both ends do: send a message, and deliver one. */
abstract contract Messages {
    event MessageSent(
        address indexed from,
        address indexed to,
        uint256 fee,
        uint256 value,
        uint256 nonce,
        bytes data,
        bytes32 indexed hash
    );
    event MessageClaimed(bytes32 indexed hash);

    error FeePaymentFailed(address recipient);
    error FeeTooLow();
    error MessageSendingFailed(address destination);
    error NotOperator();
    error ReentrantCall();
    error ValueSentTooLow();
    error ZeroAddressNotAllowed();

    /** Only this account. */
    modifier onlyBy(address operator) {
        if (msg.sender != operator) revert NotOperator();
        _;
    }

    /** Sender of the message that is being delivered, in transient storage. */
    bytes32 private constant SENDER = keccak256("plumbline.messages.sender");

    function sender() external view returns (address from) {
        bytes32 slot = SENDER;
        assembly {
            from := tload(slot)
        }
    }

    function _send(address to, uint256 fee, uint256 value, uint256 nonce, bytes calldata data) internal returns (bytes32 hash) {
        hash = keccak256(abi.encode(msg.sender, to, fee, value, nonce, data));
        emit MessageSent(msg.sender, to, fee, value, nonce, data, hash);
    }

    /** Calls the recipient, then pays the fee. */
    function _deliver(address from, address to, uint256 fee, uint256 value, address feeRecipient, bytes calldata data) internal {
        uint256 gasBefore = gasleft();
        bytes32 slot = SENDER;
        assembly {
            if tload(slot) {
                // ReentrantCall()
                mstore(0, 0x37ed32e800000000000000000000000000000000000000000000000000000000)
                revert(0, 4)
            }
            tstore(slot, from)
        }
        (bool succeeded, bytes memory returned) = to.call{value: value}(data);
        if (!succeeded) {
            if (returned.length == 0) revert MessageSendingFailed(to);
            assembly {
                revert(add(returned, 32), mload(returned))
            }
        }
        assembly {
            tstore(slot, 0)
        }
        if (fee == 0) return;
        uint256 paid = fee;
        // A plain transfer is cheap: what the claim did not cost goes to the recipient.
        if (data.length == 0 && to.code.length == 0) {
            uint256 cost = (gasBefore - gasleft() + 48252) * tx.gasprice;
            if (cost < fee) {
                paid = cost;
                (bool refunded, ) = to.call{value: fee - cost}("");
                if (!refunded) revert FeePaymentFailed(to);
            }
        }
        address recipient = feeRecipient == address(0) ? msg.sender : feeRecipient;
        (bool done, ) = recipient.call{value: paid}("");
        if (!done) revert FeePaymentFailed(recipient);
    }
}

/** The message service on layer 2. */
contract MessageService is Messages {
    event L1L2MessageHashesAddedToInbox(bytes32[] messageHashes);
    event RollingHashUpdated(uint256 indexed messageNumber, bytes32 indexed rollingHash);

    error MessageDoesNotExistOrHasAlreadyBeenClaimed(bytes32 messageHash);
    error MessageHashesListLengthIsZero();
    error MessageNumbersDoNotContinue(uint256 expected, uint256 given);
    error RollingHashDiffers(bytes32 expected, bytes32 given);

    /** Of OPERATOR in src/chain/devnet/state/dev-accounts.ts. */
    address private constant OPERATOR = 0xd66c3e1AF3B82a8B5E5eaE6D798a4B0a0D1E5cAb;

    uint256[176] private gap0;
    /** Slot 176. 0: unknown, 1: received, 2: claimed. */
    mapping(bytes32 => uint256) public inboxL1L2MessageStatus;
    uint256[101] private gap1;
    /** Slots 278 to 281. */
    uint256 public nextMessageNumber;
    uint256 public minimumFeeInWei;
    uint256 public lastAnchoredL1MessageNumber;
    mapping(uint256 => bytes32) public l1RollingHashes;

    function sendMessage(address to, uint256 fee, bytes calldata data) external payable {
        if (to == address(0)) revert ZeroAddressNotAllowed();
        if (fee > msg.value) revert ValueSentTooLow();
        if (fee < minimumFeeInWei) revert FeeTooLow();
        _send(to, fee - minimumFeeInWei, msg.value - fee, nextMessageNumber++, data);
        if (minimumFeeInWei == 0) return;
        (bool done, ) = block.coinbase.call{value: minimumFeeInWei}("");
        if (!done) revert FeePaymentFailed(block.coinbase);
    }

    function anchorL1L2MessageHashes(
        bytes32[] calldata hashes,
        uint256 startingMessageNumber,
        uint256 finalMessageNumber,
        bytes32 finalRollingHash
    ) external onlyBy(OPERATOR) {
        if (hashes.length == 0) revert MessageHashesListLengthIsZero();
        uint256 last = lastAnchoredL1MessageNumber;
        if (startingMessageNumber != last + 1) revert MessageNumbersDoNotContinue(last + 1, startingMessageNumber);
        bytes32 rolling = l1RollingHashes[last];
        for (uint256 i = 0; i < hashes.length; i++) {
            inboxL1L2MessageStatus[hashes[i]] = 1;
            rolling = keccak256(abi.encodePacked(rolling, hashes[i]));
        }
        last += hashes.length;
        if (finalMessageNumber != last) revert MessageNumbersDoNotContinue(last, finalMessageNumber);
        if (rolling != finalRollingHash) revert RollingHashDiffers(rolling, finalRollingHash);
        lastAnchoredL1MessageNumber = last;
        l1RollingHashes[last] = rolling;
        emit L1L2MessageHashesAddedToInbox(hashes);
        emit RollingHashUpdated(last, rolling);
    }

    function claimMessage(
        address from,
        address to,
        uint256 fee,
        uint256 value,
        address payable feeRecipient,
        bytes calldata data,
        uint256 nonce
    ) external {
        bytes32 hash = keccak256(abi.encode(from, to, fee, value, nonce, data));
        if (inboxL1L2MessageStatus[hash] != 1) revert MessageDoesNotExistOrHasAlreadyBeenClaimed(hash);
        inboxL1L2MessageStatus[hash] = 2;
        _deliver(from, to, fee, value, feeRecipient, data);
        emit MessageClaimed(hash);
    }

    receive() external payable {}
}

/** The rollup on layer 1, which is the message service there. */
contract Rollup is Messages {
    struct Claim {
        bytes32[] proof;
        uint256 messageNumber;
        uint32 leafIndex;
        address from;
        address to;
        uint256 fee;
        uint256 value;
        address payable feeRecipient;
        bytes32 merkleRoot;
        bytes data;
    }

    struct Finalization {
        uint256 first;
        uint256 last;
        /** Of the block before `first` and of `last`: zk state roots, or block hashes. */
        bytes32 parent;
        bytes32 end;
        bool storesHash;
        uint256 timestamp;
        bytes32[] roots;
        uint256 depth;
        uint256[] messagingBlocks;
        /** The last message of layer 1 that layer 2 has anchored, and its rolling hash there. */
        uint256 messageNumber;
        bytes32 messageRollingHash;
    }

    event DataFinalizedV3(
        uint256 indexed startBlockNumber,
        uint256 indexed endBlockNumber,
        bytes32 indexed shnarf,
        bytes32 parentStateRootHash,
        bytes32 finalStateRootHash
    );
    event DataFinalizedV4(
        uint256 indexed startBlockNumber,
        uint256 indexed endBlockNumber,
        bytes32 indexed dataRollingHash,
        uint256 offset,
        bytes32 parentBlockHash,
        bytes32 finalBlockHash
    );
    event FinalizedStateUpdated(
        uint256 indexed blockNumber,
        uint256 timestamp,
        uint256 messageNumber,
        uint256 forcedTransactionNumber
    );
    event L2MerkleRootAdded(bytes32 indexed l2MerkleRoot, uint256 indexed treeDepth);
    event L2MessagingBlockAnchored(uint256 indexed l2Block);
    event RollingHashUpdated(uint256 indexed messageNumber, bytes32 indexed rollingHash, bytes32 indexed messageHash);
    event Paused(address messageSender, uint8 indexed pauseType);
    event UnPaused(address messageSender, uint8 indexed pauseType);
    event LimitAmountChanged(
        address indexed amountChangeBy,
        uint256 amount,
        bool amountUsedLoweredToLimit,
        bool usedAmountResetToZero
    );

    error IsPaused(uint8 pauseType);
    error L2MerkleRootAlreadyAnchored(bytes32 merkleRoot);
    error L2MerkleRootDoesNotExist();
    error ProofLengthDifferentThanMerkleDepth(uint256 actual, uint256 expected);
    error MessageAlreadyClaimed(uint256 messageIndex);
    error RateLimitExceeded();
    error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value);
    error LeafIndexOutOfBounds(uint32 leafIndex, uint32 maxAllowedIndex);
    error InvalidMerkleProof();
    error FinalizationStateIncorrect(bytes32 expected, bytes32 actual);

    address private constant OPERATOR = 0xd66c3e1AF3B82a8B5E5eaE6D798a4B0a0D1E5cAb;
    /** The first dev account pauses, and sets the limit. */
    address private constant COUNCIL = 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266;

    /*
     * Slots that the profile of a network names: these words are put in their place when the code is deployed
     * (src/chain/devnet/layer-one/rollup-contract.ts).
     */
    uint256 private constant CURRENT_BLOCK = 0x8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f01;
    uint256 private constant STATE_ROOTS = 0x8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f02;
    uint256 private constant BLOCK_HASHES = 0x8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f03;
    uint256 private constant CLAIMED = 0x8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f04;
    uint256 private constant ROOT_DEPTHS = 0x8d1c7ae35f4b90d216e7c3a95b08f46d1e92c7b35a0f684dd3917ea2c65b0f05;

    uint256[151] private gap0;
    /** Slots 151 to 154. */
    uint256 public periodInSeconds;
    uint256 public limitInWei;
    uint256 public currentPeriodEnd;
    uint256 public currentPeriodAmountInWei;
    uint256[11] private gap1;
    /** Slot 166: messages of before the trees, of which a devnet has none. */
    mapping(bytes32 => uint256) public inboxL2L1MessageStatus;
    uint256[51] private gap2;
    /** Slot 218. */
    uint256 private pauseBits;
    uint256[9] private gap3;
    /** Slot 228. */
    uint256 public nextMessageNumber;
    uint256[105] private gap4;
    /** Slot 334. */
    mapping(uint256 => bytes32) public rollingHashes;
    uint256[112] private gap5;
    /** Slot 447. */
    bytes32 public currentFinalizedState;

    function _read(uint256 slot) private view returns (uint256 value) {
        assembly {
            value := sload(slot)
        }
    }

    function _write(uint256 slot, uint256 value) private {
        assembly {
            sstore(slot, value)
        }
    }

    function _entry(uint256 mappingSlot, uint256 key) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(key, mappingSlot)));
    }

    function currentL2BlockNumber() external view returns (uint256) {
        return _read(CURRENT_BLOCK);
    }

    function stateRootHashes(uint256 blockNumber) external view returns (bytes32) {
        return bytes32(_read(_entry(STATE_ROOTS, blockNumber)));
    }

    function blockHashes(uint256 blockNumber) external view returns (bytes32) {
        return bytes32(_read(_entry(BLOCK_HASHES, blockNumber)));
    }

    function l2MerkleRootsDepths(bytes32 root) external view returns (uint256) {
        return _read(_entry(ROOT_DEPTHS, uint256(root)));
    }

    function isMessageClaimed(uint256 messageNumber) external view returns (bool) {
        return (_read(_entry(CLAIMED, messageNumber >> 8)) >> (messageNumber & 255)) & 1 == 1;
    }

    function isPaused(uint8 pauseType) public view returns (bool) {
        return (pauseBits >> pauseType) & 1 == 1;
    }

    function pauseByType(uint8 pauseType) external onlyBy(COUNCIL) {
        pauseBits |= 1 << pauseType;
        emit Paused(msg.sender, pauseType);
    }

    function unPauseByType(uint8 pauseType) external onlyBy(COUNCIL) {
        pauseBits &= ~(1 << pauseType);
        emit UnPaused(msg.sender, pauseType);
    }

    function resetRateLimitAmount(uint256 amount) external onlyBy(COUNCIL) {
        bool isOver = currentPeriodEnd < block.timestamp;
        bool isLowered = !isOver && amount < currentPeriodAmountInWei;
        if (isOver) {
            currentPeriodEnd = block.timestamp + periodInSeconds;
            currentPeriodAmountInWei = 0;
        } else if (isLowered) {
            currentPeriodAmountInWei = amount;
        }
        limitInWei = amount;
        emit LimitAmountChanged(msg.sender, amount, isLowered, isOver);
    }

    function sendMessage(address to, uint256 fee, bytes calldata data) external payable {
        if (isPaused(2)) revert IsPaused(2);
        if (isPaused(1)) revert IsPaused(1);
        if (to == address(0)) revert ZeroAddressNotAllowed();
        if (fee > msg.value) revert ValueSentTooLow();
        uint256 number = nextMessageNumber++;
        bytes32 hash = _send(to, fee, msg.value - fee, number, data);
        bytes32 rolling = keccak256(abi.encodePacked(rollingHashes[number - 1], hash));
        rollingHashes[number] = rolling;
        emit RollingHashUpdated(number, rolling, hash);
    }

    function claimMessageWithProof(Claim calldata claim) external {
        if (isPaused(3)) revert IsPaused(3);
        if (isPaused(1)) revert IsPaused(1);
        uint256 depth = _read(_entry(ROOT_DEPTHS, uint256(claim.merkleRoot)));
        uint256 length = claim.proof.length;
        if (depth == 0) revert L2MerkleRootDoesNotExist();
        if (length != depth) revert ProofLengthDifferentThanMerkleDepth(length, depth);
        uint256 word = _entry(CLAIMED, claim.messageNumber >> 8);
        uint256 bits = _read(word);
        if ((bits >> (claim.messageNumber & 255)) & 1 == 1) revert MessageAlreadyClaimed(claim.messageNumber);
        _write(word, bits | (1 << (claim.messageNumber & 255)));
        _use(claim.fee + claim.value);
        if (length > 32) revert SafeCastOverflowedUintDowncast(32, (1 << length) - 1);
        if (claim.leafIndex >= 1 << length) revert LeafIndexOutOfBounds(claim.leafIndex, uint32((1 << length) - 1));
        bytes32 hash = keccak256(
            abi.encode(claim.from, claim.to, claim.fee, claim.value, claim.messageNumber, claim.data)
        );
        bytes32 node = hash;
        for (uint256 height = 0; height < length; height++) {
            bytes32 sibling = claim.proof[height];
            node = (claim.leafIndex >> height) & 1 == 1
                ? keccak256(abi.encodePacked(sibling, node))
                : keccak256(abi.encodePacked(node, sibling));
        }
        if (node != claim.merkleRoot) revert InvalidMerkleProof();
        _deliver(claim.from, claim.to, claim.fee, claim.value, claim.feeRecipient, claim.data);
        emit MessageClaimed(hash);
    }

    function _use(uint256 amount) private {
        if (amount == 0) return;
        uint256 used = amount;
        if (currentPeriodEnd < block.timestamp) currentPeriodEnd = block.timestamp + periodInSeconds;
        else used += currentPeriodAmountInWei;
        if (used > limitInWei) revert RateLimitExceeded();
        currentPeriodAmountInWei = used;
    }

    /** In place of a validity proof, only the operator may call it. */
    function finalizeBlocks(Finalization calldata given) external onlyBy(OPERATOR) {
        bytes32 expected = rollingHashes[given.messageNumber];
        if (expected != given.messageRollingHash) revert FinalizationStateIncorrect(expected, given.messageRollingHash);
        for (uint256 i = 0; i < given.roots.length; i++) {
            uint256 slot = _entry(ROOT_DEPTHS, uint256(given.roots[i]));
            if (_read(slot) != 0) revert L2MerkleRootAlreadyAnchored(given.roots[i]);
            _write(slot, given.depth);
            emit L2MerkleRootAdded(given.roots[i], given.depth);
        }
        for (uint256 i = 0; i < given.messagingBlocks.length; i++) emit L2MessagingBlockAnchored(given.messagingBlocks[i]);
        _write(CURRENT_BLOCK, given.last);
        _write(_entry(given.storesHash ? BLOCK_HASHES : STATE_ROOTS, given.last), uint256(given.end));
        currentFinalizedState = keccak256(
            abi.encode(given.messageNumber, given.messageRollingHash, uint256(0), bytes32(0), given.timestamp)
        );
        bytes32 shnarf = keccak256(abi.encode(given.first, given.last, given.parent, given.end));
        if (given.storesHash) emit DataFinalizedV4(given.first, given.last, shnarf, 0, given.parent, given.end);
        else emit DataFinalizedV3(given.first, given.last, shnarf, given.parent, given.end);
        emit FinalizedStateUpdated(given.last, given.timestamp, given.messageNumber, 0);
    }

    receive() external payable {}
}
