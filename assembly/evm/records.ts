import { allocate, release } from './allocator';

const RECORDS_PER_CHUNK: usize = 64;
const CHUNK_HEADER: usize = 16;

/**
 * Records of one size that never move, so pointers to them stay valid until `rewind`. Chunks of 64 records are linked by
 * their first word. Made over static memory that holds the size of a record and four zeros.
 */
@unmanaged
@final
export class Records {
  private size: usize;
  private first: usize;
  private chunk: usize;
  private next: usize;
  private end: usize;

  /** A record filled with zeros. */
  add(): usize {
    if (this.next === this.end) this.enterChunk();
    const record = this.next;
    this.next += this.size;
    memory.fill(record, 0, this.size);
    return record;
  }

  /** Calls `visit` with every record, in the order in which they were added. */
  each(visit: (record: usize) => void): void {
    if (this.chunk === 0) return;
    for (let chunk = this.first; ; chunk = <usize>load<u32>(chunk)) {
      const end = chunk === this.chunk ? this.next : chunk + CHUNK_HEADER + this.size * RECORDS_PER_CHUNK;
      for (let record = chunk + CHUNK_HEADER; record < end; record += this.size) visit(record);
      if (chunk === this.chunk) return;
    }
  }

  /** Forgets all records and keeps their memory. */
  rewind(): void {
    this.chunk = 0;
    this.next = 0;
    this.end = 0;
  }

  private enterChunk(): void {
    const bytes = CHUNK_HEADER + this.size * RECORDS_PER_CHUNK;
    let following: usize = this.chunk === 0 ? this.first : <usize>load<u32>(this.chunk);
    if (following === 0) {
      following = allocate(bytes);
      store<u32>(following, 0);
      if (this.chunk === 0) this.first = following;
      else store<u32>(this.chunk, <u32>following);
    }
    this.chunk = following;
    this.next = following + CHUNK_HEADER;
    this.end = following + bytes;
  }
}

/**
 * Hash index: pointers to records by their hash, with linear probing; the caller compares keys. Each record has its hash
 * at `hashAt`, so that the index can grow. Made over static memory that holds `hashAt` and three zeros; `clear` before
 * the first use.
 */
@unmanaged
@final
export class Index {
  private hashAt: usize;
  private table: usize;
  private mask: u32;
  private count: u32;

  /** First place to look for a hash. A place is empty when it holds zero. */
  place(hash: u32): u32 {
    return hash & this.mask;
  }

  at(place: u32): usize {
    return <usize>load<u32>(this.table + ((<usize>place) << 2));
  }

  after(place: u32): u32 {
    return (place + 1) & this.mask;
  }

  /** Adds a record at the empty place where the search for it ended. */
  add(place: u32, record: usize): void {
    store<u32>(this.table + ((<usize>place) << 2), <u32>record);
    if (++this.count > this.mask >> 1) this.grow();
  }

  clear(): void {
    if (this.table === 0) this.reset(256);
    else {
      if (this.count > 0) memory.fill(this.table, 0, (<usize>this.mask + 1) << 2);
      this.count = 0;
    }
  }

  private reset(places: u32): void {
    this.table = allocate((<usize>places) << 2);
    memory.fill(this.table, 0, (<usize>places) << 2);
    this.mask = places - 1;
    this.count = 0;
  }

  private grow(): void {
    const old = this.table;
    const places = this.mask + 1;
    const count = this.count;
    this.reset(places << 1);
    for (let i: u32 = 0; i < places; i++) {
      const record = <usize>load<u32>(old + ((<usize>i) << 2));
      if (record === 0) continue;
      let place = this.place(load<u32>(record + this.hashAt));
      while (this.at(place) !== 0) place = this.after(place);
      store<u32>(this.table + ((<usize>place) << 2), <u32>record);
    }
    this.count = count;
    release(old, (<usize>places) << 2);
  }
}
