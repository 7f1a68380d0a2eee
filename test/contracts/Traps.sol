// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Gives a deposit back, or keeps it, by one thing that it can see.
contract Trap {
    function keepIf(bool kept) private {
        if (!kept) payable(msg.sender).transfer(msg.value);
    }
    /// One bit of the time, whatever it is now.
    function byTimeBit(uint256 bit, uint256 now_) external payable { keepIf((block.timestamp ^ now_) >> bit & 1 == 1); }
    function byNumberBit(uint256 bit, uint256 now_) external payable { keepIf((block.number ^ now_) >> bit & 1 == 1); }
    function byRandom(uint256 high, uint256 now_) external payable { keepIf((block.prevrandao ^ now_) >> high != 0); }
    function byOldHash(uint256 back, bytes32 now_) external payable { keepIf(blockhash(block.number - back) != now_); }
    function byPrice(uint256 now_) external payable { keepIf(tx.gasprice != now_); }
    function byOwnEther(uint256 now_) external payable { keepIf(address(this).balance - msg.value != now_); }
    /// Burns all gas where the number is odd, so that nobody sees the other branch.
    function byBurning(uint256 now_) external payable {
        if (block.number != now_) while (true) {}
        keepIf(false);
    }
    /// What an inner call does with its gas decides.
    function byInnerGas() external payable {
        bool ran;
        try this.spend{gas: gasleft() / 8}() { ran = true; } catch {}
        keepIf(ran);
    }
    function spend() external view { uint256 sum; for (uint256 i; i < 25; i++) sum += address(uint160(i + 77_777)).balance; require(sum < 1 << 255); }
    receive() external payable {}
}

/// A token with ways to lose it that no list of selectors has.
contract TrapToken {
    string public constant symbol = "TRAP";
    uint8 public constant decimals = 0;
    uint256 public totalSupply = 1_000_000;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(address => bool)) public isAllowed;
    mapping(address => mapping(address => bool)) public isOperatorFor_;
    address public owner;
    address public pendingOwner;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event OwnershipTransferStarted(address indexed before, address indexed owner);

    function give(address to, uint256 value) external { balanceOf[to] += value; owner = to; }
    function approve(address spender, uint256 value) external { allowance[msg.sender][spender] = value; emit Approval(msg.sender, spender, value); }
    /// Compound: everything, and no event.
    function allow(address manager, bool allowed) external { isAllowed[msg.sender][manager] = allowed; }
    function offer(address to) external { pendingOwner = to; emit OwnershipTransferStarted(msg.sender, to); }
    /// Approves and tells less.
    function approveMore(address spender) external { allowance[msg.sender][spender] = 900; emit Approval(msg.sender, spender, 1); }
    /// An event of nothing, and all is gone.
    function checkIn() external { balanceOf[msg.sender] = 0; emit Transfer(msg.sender, msg.sender, 0); }
    /// Pays in new tokens, and hands the ether on.
    function buy(address payable maker) external payable {
        balanceOf[msg.sender] += 1000;
        emit Transfer(address(0), msg.sender, 1000);
        maker.transfer(msg.value);
    }
    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
    /// Each call as this token, without an event of its own.
    function quietly(address spender) external { this.quiet(msg.sender, spender); }
    function quiet(address holder, address spender) external { allowance[holder][spender] = 7; }
}

/// A vault whose shares are worth what it holds of a token.
contract TrapVault {
    TrapToken private immutable asset;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    uint8 public constant decimals = 0;
    constructor(TrapToken a) { asset = a; }
    function give(address to, uint256 shares) external { balanceOf[to] += shares; totalSupply += shares; }
    function convertToAssets(uint256 shares) public view returns (uint256) { return totalSupply == 0 ? shares : shares * asset.balanceOf(address(this)) / totalSupply; }
    function rebalance(address to) external { asset.transfer(to, asset.balanceOf(address(this)) / 2); }
}

/// Asks a beacon whose code runs.
contract BeaconProxy {
    Beacon private immutable beacon;
    constructor(Beacon b) { beacon = b; }
    fallback() external payable {
        address target = beacon.implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
contract Beacon {
    address public implementation;
    constructor(address first) { implementation = first; }
    function upgrade(address next) external { implementation = next; }
}
contract BeaconLogic {
    function upgradeThrough(Beacon beacon, address next) external { beacon.upgrade(next); }
}

/// A wallet of one owner that can run anything as itself.
contract TrapWallet {
    uint256 public nonce;
    mapping(address => bool) public modules;
    function run(address to, bytes calldata data) external { nonce++; (bool ok, ) = to.delegatecall(data); require(ok); }
}
/// By DELEGATECALL it puts its sender's friend into a mapping of the account.
contract ModuleWriter {
    uint256 private nonce;
    mapping(address => bool) private modules;
    function sync(address friend) external { modules[friend] = true; }
}

/// Debt in the user's name, for somebody else's benefit.
contract Lender {
    string public constant symbol = "OWED";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    event Transfer(address indexed from, address indexed to, uint256 value);
    function borrowFor(address payable to, uint256 value) external {
        balanceOf[msg.sender] += value;
        emit Transfer(address(0), msg.sender, value);
        to.transfer(value);
    }
    receive() external payable {}
}

/// The call of a Safe, without its checks.
contract PlainSafe {
    function execTransaction(
        address to, uint256 value, bytes calldata data, uint8 operation, uint256, uint256, uint256, address, address payable, bytes calldata
    ) external payable returns (bool ok) {
        require(operation == 0);
        (ok, ) = to.call{value: value}(data);
    }
    receive() external payable {}
}

/// A token of a collection (id 1) and 100 pieces of another (id 5), by ERC-721 and by ERC-1155.
contract TrapNft {
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => bool)) public isApprovedForAll;
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
    function supportsInterface(bytes4 id) external pure returns (bool) { return id == 0x80ac58cd || id == 0x01ffc9a7; }
    function mint(address to, uint256 id) external {
        ownerOf[id] = to;
        balanceOf[to]++;
        emit Transfer(address(0), to, id);
    }
    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }
    function approveFor(address owner, address operator) external {
        isApprovedForAll[owner][operator] = true;
        emit ApprovalForAll(owner, operator, true);
    }
    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf[id] == from && isApprovedForAll[from][msg.sender]);
        ownerOf[id] = to;
        balanceOf[from]--;
        balanceOf[to]++;
        emit Transfer(from, to, id);
    }
}

contract TrapPieces {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;
    mapping(address => mapping(address => bool)) public isApprovedForAll;
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
    function supportsInterface(bytes4 id) external pure returns (bool) { return id == 0xd9b67a26 || id == 0x01ffc9a7; }
    function mint(address to, uint256 id, uint256 value) external {
        balanceOf[to][id] += value;
        emit TransferSingle(msg.sender, address(0), to, id, value);
    }
    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }
    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes calldata) external {
        require(isApprovedForAll[from][msg.sender]);
        balanceOf[from][id] -= value;
        balanceOf[to][id] += value;
        emit TransferSingle(msg.sender, from, to, id, value);
    }
}

/// Does nothing in one block, and takes what it may in every other.
contract TrapMarket {
    uint256 private calls;
    function burn(uint256 gas) private view {
        uint256 begin = gasleft();
        while (begin - gasleft() < gas) {}
    }
    function takeToken(TrapNft token, address to, uint256 number) external {
        calls++;
        if (block.number == number) burn(300_000);
        else token.transferFrom(msg.sender, to, 1);
    }
    function takePieces(TrapPieces token, address to, uint256 number) external {
        calls++;
        if (block.number == number) burn(300_000);
        else token.safeTransferFrom(msg.sender, to, 5, 100, "");
    }
    function takeRight(TrapNft token, address to, uint256 number) external {
        calls++;
        if (block.number == number) burn(300_000);
        else token.approveFor(msg.sender, to);
    }
}
