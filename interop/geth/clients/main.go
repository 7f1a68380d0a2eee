// go-ethereum's ethclient, gethclient and bind against the node at the URL of the first argument (WebSocket: the second).
// Prints a line for each check: "ok NAME" or "FAIL NAME: REASON".
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/accounts/abi/bind"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/ethclient/gethclient"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"
	"strings"
)

var ctx, cancel = context.WithTimeout(context.Background(), 90*time.Second)

func check(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
	} else {
		fmt.Printf("ok %s\n", name)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Printf("FAIL the program: %v\n", err)
		os.Exit(1)
	}
	return value
}

func equal(ours, theirs any) error {
	if fmt.Sprint(ours) != fmt.Sprint(theirs) {
		return fmt.Errorf("%v is not %v", ours, theirs)
	}
	return nil
}

func main() {
	defer cancel()
	key := must(crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"))
	from := crypto.PubkeyToAddress(key.PublicKey)
	raw := must(rpc.DialContext(ctx, os.Args[1]))
	client := ethclient.NewClient(raw)
	geth := gethclient.New(raw)
	socketRaw := must(rpc.DialContext(ctx, os.Args[2]))
	socket := ethclient.NewClient(socketRaw)
	chain := must(client.ChainID(ctx))
	init := common.FromHex(os.Args[3])

	heads := make(chan *types.Header, 64)
	logs := make(chan types.Log, 64)
	headsOf := must(socket.SubscribeNewHead(ctx, heads))
	defer headsOf.Unsubscribe()
	logsOf := must(socket.SubscribeFilterLogs(ctx, ethereum.FilterQuery{}, logs))
	defer logsOf.Unsubscribe()

	var contract common.Address
	receipts := map[string]*types.Receipt{}
	send := func(name string, key *ecdsa.PrivateKey, data types.TxData) {
		check("sends "+name, func() error {
			tx, err := types.SignNewTx(key, types.LatestSignerForChainID(chain), data)
			if err != nil {
				return err
			}
			if err = client.SendTransaction(ctx, tx); err != nil {
				return err
			}
			receipt, err := bind.WaitMined(ctx, client, tx)
			if err != nil {
				return err
			}
			receipts[name] = receipt
			if receipt.Status != 1 {
				return fmt.Errorf("status %d", receipt.Status)
			}
			got, pending, err := client.TransactionByHash(ctx, tx.Hash())
			if err != nil || pending {
				return fmt.Errorf("pending %v, %v", pending, err)
			}
			want, _ := tx.MarshalBinary()
			have, _ := got.MarshalBinary()
			if !bytes.Equal(want, have) {
				return fmt.Errorf("its bytes are others")
			}
			sender, err := client.TransactionSender(ctx, got, receipt.BlockHash, receipt.TransactionIndex)
			if err != nil {
				return err
			}
			return equal(sender, crypto.PubkeyToAddress(key.PublicKey))
		})
	}
	nonce := func() uint64 { return must(client.PendingNonceAt(ctx, from)) }
	price := big.NewInt(5_000_000_000)
	tip := big.NewInt(1_000_000_000)
	word := func(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
	set := func(slot, value int64) []byte { return append(word(slot), word(value)...) }

	send("a deployment", key, &types.LegacyTx{Nonce: nonce(), GasPrice: price, Gas: 300_000, Data: init})
	if receipt := receipts["a deployment"]; receipt != nil {
		contract = receipt.ContractAddress
	}
	send("type 0", key, &types.LegacyTx{Nonce: nonce(), GasPrice: price, Gas: 300_000, To: &contract, Data: set(1, 1)})
	send("type 1", key, &types.AccessListTx{ChainID: chain, Nonce: nonce(), GasPrice: price, Gas: 300_000, To: &contract, Data: set(2, 2),
		AccessList: types.AccessList{{Address: contract, StorageKeys: []common.Hash{common.BigToHash(big.NewInt(2))}}}})
	send("type 2", key, &types.DynamicFeeTx{ChainID: chain, Nonce: nonce(), GasFeeCap: price, GasTipCap: tip, Gas: 300_000, To: &contract, Data: set(3, 3)})
	authority := must(crypto.HexToECDSA("59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"))
	authorization := must(types.SignSetCode(authority, types.SetCodeAuthorization{ChainID: *uint256.MustFromBig(chain), Address: contract,
		Nonce: must(client.NonceAt(ctx, crypto.PubkeyToAddress(authority.PublicKey), nil))}))
	send("type 4", key, &types.SetCodeTx{ChainID: uint256.MustFromBig(chain), Nonce: nonce(), GasFeeCap: uint256.MustFromBig(price), GasTipCap: uint256.MustFromBig(tip),
		Gas: 300_000, To: crypto.PubkeyToAddress(authority.PublicKey), Data: set(4, 4), AuthList: []types.SetCodeAuthorization{authorization}})

	head := must(client.BlockNumber(ctx))
	check("heads by subscription have the hashes that geth's types compute", func() error {
		for number := head - 4; number <= head; {
			select {
			case header := <-heads:
				if header.Number.Uint64() != number {
					continue
				}
				var named struct{ Hash common.Hash }
				if err := raw.CallContext(ctx, &named, "eth_getBlockByNumber", hexutil.EncodeUint64(number), false); err != nil {
					return err
				}
				if err := equal(header.Hash(), named.Hash); err != nil {
					return err
				}
				number++
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	check("four logs by subscription", func() error {
		for count := 0; count < 4; count++ {
			select {
			case log := <-logs:
				if log.Removed {
					return fmt.Errorf("removed")
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	check("FilterLogs equals the receipts", func() error {
		found, err := client.FilterLogs(ctx, ethereum.FilterQuery{FromBlock: big.NewInt(0), Topics: [][]common.Hash{nil}})
		if err != nil {
			return err
		}
		return equal(len(found), 4)
	})
	check("blocks: transactions root, receipts root and hash by geth's types", func() error {
		for number := uint64(0); number <= head; number++ {
			block, err := client.BlockByNumber(ctx, new(big.Int).SetUint64(number))
			if err != nil {
				return err
			}
			if err = equal(types.DeriveSha(block.Transactions(), trie.NewStackTrie(nil)), block.TxHash()); err != nil {
				return err
			}
			found, err := client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(block.Hash(), false))
			if err != nil {
				return err
			}
			if err = equal(types.DeriveSha(types.Receipts(found), trie.NewStackTrie(nil)), block.ReceiptHash()); err != nil {
				return err
			}
		}
		return nil
	})
	check("raw blocks decode", func() error {
		var encoded hexutil.Bytes
		if err := raw.CallContext(ctx, &encoded, "debug_getRawBlock", "latest"); err != nil {
			return err
		}
		var block types.Block
		if err := rlp.DecodeBytes(encoded, &block); err != nil {
			return err
		}
		header := must(client.HeaderByNumber(ctx, nil))
		return equal(block.Hash(), header.Hash())
	})
	check("BlockReceipts of { blockNumber: latest }", func() error {
		found, err := client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithNumber(rpc.LatestBlockNumber))
		if err != nil {
			return err
		}
		return equal(len(found), 1)
	})
	check("gethclient.GetProof, by trie.VerifyProof", func() error {
		header := must(client.HeaderByNumber(ctx, nil))
		proof, err := geth.GetProof(ctx, contract, []string{common.BigToHash(big.NewInt(1)).Hex(), common.BigToHash(big.NewInt(99)).Hex()}, header.Number)
		if err != nil {
			return err
		}
		walk := func(root common.Hash, key []byte, nodes []string) ([]byte, error) {
			db := memorydb.New()
			for _, node := range nodes {
				encoded := common.FromHex(node)
				db.Put(crypto.Keccak256(encoded), encoded)
			}
			return trie.VerifyProof(root, crypto.Keccak256(key), db)
		}
		encoded, err := walk(header.Root, contract.Bytes(), proof.AccountProof)
		if err != nil {
			return err
		}
		var account types.StateAccount
		if err = rlp.DecodeBytes(encoded, &account); err != nil {
			return err
		}
		if err = equal(account.Root, proof.StorageHash); err != nil {
			return err
		}
		for at, want := range []string{"01", ""} {
			slot := proof.StorageProof[at]
			value, err := walk(account.Root, common.HexToHash(slot.Key).Bytes(), slot.Proof)
			if err != nil {
				return err
			}
			if err = equal(common.Bytes2Hex(value), want); err != nil {
				return err
			}
		}
		return nil
	})
	check("gethclient.CallContract with overrides", func() error {
		overrides := map[common.Address]gethclient.OverrideAccount{
			contract: {StateDiff: map[common.Hash]common.Hash{common.BigToHash(big.NewInt(50)): common.BigToHash(big.NewInt(7))}}}
		result, err := geth.CallContract(ctx, ethereum.CallMsg{To: &contract, Data: word(50)}, nil, &overrides)
		if err != nil {
			return err
		}
		return equal(new(big.Int).SetBytes(result), 7)
	})
	check("gethclient.CreateAccessList", func() error {
		list, gas, failure, err := geth.CreateAccessList(ctx, ethereum.CallMsg{From: from, To: &contract, Data: set(9, 9)})
		if err != nil || failure != "" || gas == 0 {
			return fmt.Errorf("%v %s %d", err, failure, gas)
		}
		return equal((*list)[0].StorageKeys[0], common.BigToHash(big.NewInt(9)))
	})
	check("ethclient.SimulateV1", func() error {
		result, err := client.SimulateV1(ctx, ethclient.SimulateOptions{BlockStateCalls: []ethclient.SimulateBlock{
			{Calls: []ethereum.CallMsg{{From: from, To: &contract, Data: set(11, 5)}, {From: from, To: &contract, Data: word(11)}}}}}, nil)
		if err != nil {
			return err
		}
		return equal(new(big.Int).SetBytes(result[0].Calls[1].ReturnValue), 5)
	})
	check("estimate, gas price, tip, fee history, state", func() error {
		gas, err := client.EstimateGas(ctx, ethereum.CallMsg{From: from, To: &contract, Data: set(1, 9)})
		if err != nil || gas < 21_000 {
			return fmt.Errorf("%d %v", gas, err)
		}
		must(client.SuggestGasPrice(ctx))
		must(client.SuggestGasTipCap(ctx))
		history, err := client.FeeHistory(ctx, 3, nil, []float64{50})
		if err != nil {
			return err
		}
		if err = equal(len(history.BaseFee), 4); err != nil {
			return err
		}
		if err = equal(new(big.Int).SetBytes(must(client.StorageAt(ctx, contract, common.BigToHash(big.NewInt(3)), nil))), 3); err != nil {
			return err
		}
		return equal(len(must(client.CodeAt(ctx, contract, nil))) > 0, true)
	})
	check("a revert has its data", func() error {
		_, err := client.CallContract(ctx, ethereum.CallMsg{From: from, To: &contract, Data: []byte{1, 2, 3, 4}}, nil)
		data, is := ethclient.RevertErrorData(err)
		if !is {
			return fmt.Errorf("no data in %v", err)
		}
		return equal(common.Bytes2Hex(data), "01020304")
	})
	check("a call at a block by its hash", func() error {
		result, err := client.CallContractAtHash(ctx, ethereum.CallMsg{To: &contract, Data: word(3)}, receipts["type 1"].BlockHash)
		if err != nil {
			return err
		}
		return equal(new(big.Int).SetBytes(result), 0)
	})
	check("bind.BoundContract reads and writes", func() error {
		token := common.HexToAddress(os.Args[4])
		parsed := must(abi.JSON(strings.NewReader(`[{"type":"function","name":"balanceOf","stateMutability":"view","inputs":[{"name":"of","type":"address"}],"outputs":[{"type":"uint256"}]},
			{"type":"function","name":"transfer","stateMutability":"nonpayable","inputs":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}],"outputs":[{"type":"bool"}]}]`)))
		bound := bind.NewBoundContract(token, parsed, client, client, client)
		auth := must(bind.NewKeyedTransactorWithChainID(key, chain))
		tx, err := bound.Transact(auth, "transfer", common.HexToAddress("0xaa"), big.NewInt(77))
		if err != nil {
			return err
		}
		if _, err = bind.WaitMined(ctx, client, tx); err != nil {
			return err
		}
		var out []any
		if err = bound.Call(&bind.CallOpts{Context: ctx}, &out, "balanceOf", common.HexToAddress("0xaa")); err != nil {
			return err
		}
		return equal(out[0], 77)
	})
}
