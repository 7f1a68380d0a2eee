//! Runs one program in revm, as often as it is asked to.
//!
//! The first line of standard input is the program: `{ "from", "to", "data", "gas", "alloc" }`. The answer is a line with what it
//! returns, in hex. Each further line has it run for a quarter of a second of processor time; the answer is a line with the
//! milliseconds of processor time of one run.

use revm::{
    context::{Context, TxEnv},
    database::{CacheDB, EmptyDB},
    primitives::{hardfork::SpecId, Address, Bytes, TxKind, U256},
    state::{AccountInfo, Bytecode},
    ExecuteEvm, MainBuilder, MainContext,
};
use serde_json::Value;
use std::io::{stdin, BufRead};

const TURN_MS: f64 = 250.0;

/// Processor time of this process so far, milliseconds.
fn cpu_ms() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    let nanoseconds: f64 = statistics.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1e6
}

fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_else(|| panic!("{name} is not a string"))
}

fn bytes(value: &str) -> Bytes {
    Bytes::from(hex::decode(value.trim_start_matches("0x")).expect("hex"))
}

fn address(value: &str) -> Address {
    value.parse().expect("an address")
}

fn number(value: &str) -> U256 {
    value.parse().expect("a number")
}

fn state_of(alloc: &Value) -> CacheDB<EmptyDB> {
    let mut state = CacheDB::new(EmptyDB::default());
    for (key, account) in alloc.as_object().expect("accounts") {
        let mut info = AccountInfo::default().with_code(Bytecode::new_raw(bytes(text(account, "code"))));
        info.nonce = number(text(account, "nonce")).to();
        info.balance = number(text(account, "balance"));
        state.insert_account_info(address(key), info);
        for (slot, value) in account["storage"].as_object().into_iter().flatten() {
            let value = number(value.as_str().expect("a value"));
            state.insert_account_storage(address(key), number(slot), value).unwrap();
        }
    }
    state
}

fn main() {
    let mut lines = stdin().lock().lines().map(|line| line.expect("a line"));
    let program: Value = serde_json::from_str(&lines.next().expect("a program")).expect("JSON");
    let gas: u64 = number(text(&program, "gas")).to();
    let transaction = TxEnv::builder()
        .caller(address(text(&program, "from")))
        .kind(TxKind::Call(address(text(&program, "to"))))
        .data(bytes(text(&program, "data")))
        .gas_limit(gas)
        .gas_price(0)
        .build()
        .unwrap();
    let mut evm = Context::mainnet()
        .with_db(state_of(&program["alloc"]))
        .modify_cfg_chained(|rules| {
            rules.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
            rules.disable_nonce_check = true;
            rules.tx_gas_limit_cap = Some(u64::MAX);
        })
        .modify_block_chained(|block| {
            block.gas_limit = gas;
            block.basefee = 0;
        })
        .build_mainnet();
    let first = evm.transact(transaction.clone()).unwrap().result;
    assert!(first.is_success(), "{first:?}");
    println!("0x{}", first.output().map(hex::encode).unwrap_or_default());
    for _ in lines {
        let (began, mut runs) = (cpu_ms(), 0);
        while cpu_ms() - began < TURN_MS {
            evm.transact(transaction.clone()).unwrap();
            runs += 1;
        }
        println!("{}", (cpu_ms() - began) / f64::from(runs));
    }
}
