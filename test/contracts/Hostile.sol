// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// What a contract may do to whom previews a call of it.
contract Hostile {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    bytes32 constant BATCH = 0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 depth;

    /// Claims transfers of so many ids; ids and amounts are the same words.
    function batch(uint256 count) external {
        assembly {
            mstore(0x1000, 0x40)
            mstore(0x1020, 0x40)
            mstore(0x1040, count)
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { mstore(add(0x1060, mul(i, 32)), i) }
            log4(0x1000, add(0x60, mul(count, 32)), BATCH, caller(), 0, caller())
        }
    }

    /// A TransferBatch whose arrays claim a length and an offset.
    function claim(uint256 offset, uint256 length) external {
        assembly {
            mstore(0x1000, offset)
            mstore(0x1020, offset)
            mstore(0x1040, length)
            mstore(0x1060, 1)
            log4(0x1000, 0x80, BATCH, caller(), 0, caller())
        }
    }

    function transfers(uint256 count) external {
        for (uint160 i = 1; i <= count; i++) emit Transfer(msg.sender, address(i), i);
    }

    function approvals(uint256 count) external {
        for (uint160 i = 1; i <= count; i++) emit Approval(msg.sender, address(i << 32), type(uint256).max);
    }

    /// Events of all lengths up to one, with words that are no addresses.
    function odd(bytes32 topic, uint256 longest) external {
        assembly {
            for { let i := 0 } lt(i, 0x400) { i := add(i, 32) } { mstore(add(0x1000, i), not(0)) }
            for { let length := 0 } iszero(gt(length, longest)) { length := add(length, 1) } {
                log1(0x1000, length, topic)
                log2(0x1000, length, topic, not(0))
                log3(0x1000, length, topic, not(0), not(0))
                log4(0x1000, length, topic, not(0), not(0), not(0))
            }
        }
    }

    /// Calls itself as deep as its gas goes, and sends events from there.
    function dive(uint256 logs) external {
        if (gasleft() > 60_000 + 3_000 * logs) {
            (bool done, ) = address(this).call(abi.encodeCall(this.dive, (logs)));
            if (done) return;
        }
        for (uint256 i = 0; i < logs; i++) emit Transfer(msg.sender, address(this), i);
    }

    /// Many calls with long input.
    function shout(uint256 count, uint256 length) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { pop(call(gas(), 4, 0, 0, length, 0, 0)) }
        }
    }

    /// Approves without an event, and sends events of other approvals of the same parties.
    function approve(address spender, uint256 amount) external {
        allowance[tx.origin][spender] = amount;
        emit ApprovalForAll(tx.origin, spender, false);
        bytes32 topic = keccak256("Approval(address,address,uint256)");
        assembly {
            log4(0, 0, topic, origin(), spender, 1)
        }
    }

    function write(uint256 count) external {
        for (uint256 i = 0; i < count; i++) new Written().write();
    }

    /// Gives back what it is sent, but only in the block that it expects.
    function giveBack() external payable {
        if (block.prevrandao == uint256(keccak256(abi.encode(blockhash(block.number - 1)))))
            payable(msg.sender).transfer(msg.value);
    }

    function again(bytes32 salt, address beneficiary) external {
        new Mayfly{salt: salt}().end(beneficiary);
    }
}

contract Written {
    uint256 slot;

    function write() external {
        slot = 1;
    }

    function balanceOf(address) external view returns (uint256) {
        return slot;
    }
}

contract Mayfly {
    function end(address beneficiary) external {
        selfdestruct(payable(beneficiary));
    }
}

/// A token whose questions use up all gas.
contract Burner {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }

    fallback() external {
        while (true) {}
    }
}

/// A token that answers every question with the text in its code's storage, of a length.
contract Talker {
    event Transfer(address indexed from, address indexed to, uint256 value);

    bytes32 text;
    uint256 length;

    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }

    fallback() external {
        assembly {
            mstore(0, 0x20)
            mstore(0x20, sload(1))
            mstore(0x40, sload(0))
            return(0, add(0x40, sload(1)))
        }
    }
}

/// A collection that sends the events of a token with amounts, calls its receiver, and answers otherwise each time it can.
contract Collection {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(uint256 => address) public owners;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd;
    }

    function ownerOf(uint256 id) external view returns (address) {
        return owners[id];
    }

    function balanceOf(address) external view returns (uint256) {
        return gasleft();
    }

    function mint(address to, uint256 id, uint256 more) public {
        owners[id] = to;
        emit Transfer(address(0), to, id);
        if (more > 0) Reenterer(to).received(id, more);
    }
}

contract Reenterer {
    function received(uint256 id, uint256 more) external {
        Collection(msg.sender).mint(address(this), id + 1, more - 1);
    }
}
