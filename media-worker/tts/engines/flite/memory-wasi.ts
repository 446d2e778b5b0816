const SUCCESS = 0;
const ERRNO_BADF = 8;
const ERRNO_FBIG = 22;
const ERRNO_NOENT = 44;
const ERRNO_SPIPE = 70;
const ROOT_FD = 3;
const OPEN_CREATE = 1;
const OPEN_TRUNCATE = 8;
const FILETYPE_DIRECTORY = 3;
const FILETYPE_REGULAR = 4;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
/** A program that writes more than this into one file is stopped by an error of the write. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

interface MemoryFile {
  bytes: Uint8Array;
  length: number;
}

interface OpenFile {
  readonly file: MemoryFile;
  position: number;
}

/** Thrown through the program's stack by `proc_exit`. */
export class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`program exited with ${code}`);
    this.code = code;
  }
}

/**
 * A machine for one run of a WASI preview 1 command: arguments, a root directory whose files live in memory,
 * captured standard output, an empty standard input, a clock that stands still. Nothing of the host is reachable.
 */
export class MemoryWasi {
  readonly #args: readonly Uint8Array[];
  readonly #files = new Map<string, MemoryFile>();
  readonly #open = new Map<number, OpenFile>();
  #nextFd = ROOT_FD + 1;
  #memory: WebAssembly.Memory | null = null;

  constructor(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
    const encoder = new TextEncoder();
    this.#args = args.map((arg) => encoder.encode(`${arg.replaceAll('\0', '')}\0`));
    for (const [name, text] of Object.entries(files)) {
      const bytes = encoder.encode(text);
      this.#files.set(name, { bytes, length: bytes.length });
    }
    for (const fd of [0, 1, 2])
      this.#open.set(fd, { file: { bytes: new Uint8Array(256), length: 0 }, position: 0 });
  }

  /** Must be called before the program starts. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  get standardOutput(): string {
    const out = this.#open.get(1)?.file;
    return out ? Buffer.from(out.bytes.buffer, 0, out.length).toString('utf8') : '';
  }

  /** The content of a file the program wrote, or null. Names have no leading slash. */
  readFile(name: string): Uint8Array | null {
    const file = this.#files.get(name);
    return file ? file.bytes.subarray(0, file.length) : null;
  }

  /** The import object's `wasi_snapshot_preview1`. */
  get imports(): Readonly<Record<string, (...args: never[]) => number>> {
    return {
      args_sizes_get: (countAt: number, sizeAt: number) => this.#argSizes(countAt, sizeAt),
      args_get: (pointersAt: number, bytesAt: number) => this.#writeArgs(pointersAt, bytesAt),
      clock_time_get: (_id: number, _precision: bigint, at: number) => this.#setU64(at, 0n),
      fd_close: (fd: number) => (fd > ROOT_FD && this.#open.delete(fd) ? SUCCESS : ERRNO_BADF),
      fd_fdstat_get: (fd: number, at: number) => this.#fdStat(fd, at),
      fd_fdstat_set_flags: () => SUCCESS,
      fd_prestat_get: (fd: number, at: number) => this.#preopened(fd, at),
      fd_prestat_dir_name: (_fd: number, at: number) => {
        this.#bytes()[at] = 47;
        return SUCCESS;
      },
      fd_read: (fd: number, iovs: number, count: number, at: number) => this.#read(fd, iovs, count, at),
      fd_write: (fd: number, iovs: number, count: number, at: number) => this.#write(fd, iovs, count, at),
      fd_seek: (fd: number, offset: bigint, whence: number, at: number) =>
        this.#seek(fd, Number(offset), whence, at),
      path_open: (
        _dir: number,
        _lookup: number,
        pathAt: number,
        pathLength: number,
        flags: number,
        _rights: bigint,
        _inherited: bigint,
        _fdFlags: number,
        at: number,
      ) => this.#openPath(pathAt, pathLength, flags, at),
      proc_exit: (code: number) => {
        throw new ProgramExit(code);
      },
    };
  }

  // The memory may grow, which detaches its buffer: views are made anew for each access.
  #bytes(): Uint8Array {
    if (!this.#memory) throw new Error('the program has no memory yet');
    return new Uint8Array(this.#memory.buffer);
  }

  #view(): DataView {
    if (!this.#memory) throw new Error('the program has no memory yet');
    return new DataView(this.#memory.buffer);
  }

  #setU64(at: number, value: bigint): number {
    this.#view().setBigUint64(at, value, true);
    return SUCCESS;
  }

  #argSizes(countAt: number, sizeAt: number): number {
    const view = this.#view();
    view.setUint32(countAt, this.#args.length, true);
    view.setUint32(
      sizeAt,
      this.#args.reduce((sum, arg) => sum + arg.length, 0),
      true,
    );
    return SUCCESS;
  }

  #writeArgs(pointersAt: number, bytesAt: number): number {
    let pointerAt = pointersAt;
    let at = bytesAt;
    for (const arg of this.#args) {
      this.#view().setUint32(pointerAt, at, true);
      this.#bytes().set(arg, at);
      pointerAt += 4;
      at += arg.length;
    }
    return SUCCESS;
  }

  #fdStat(fd: number, at: number): number {
    if (fd !== ROOT_FD && !this.#open.has(fd)) return ERRNO_BADF;
    const view = this.#view();
    view.setBigUint64(at, 0n, true);
    view.setUint8(at, fd === ROOT_FD ? FILETYPE_DIRECTORY : FILETYPE_REGULAR);
    view.setBigUint64(at + 8, ALL_RIGHTS, true);
    view.setBigUint64(at + 16, ALL_RIGHTS, true);
    return SUCCESS;
  }

  #preopened(fd: number, at: number): number {
    if (fd !== ROOT_FD) return ERRNO_BADF;
    this.#view().setUint32(at, 0, true);
    this.#view().setUint32(at + 4, 1, true);
    return SUCCESS;
  }

  #openPath(pathAt: number, pathLength: number, flags: number, at: number): number {
    const name = Buffer.from(this.#bytes().subarray(pathAt, pathAt + pathLength)).toString('utf8');
    let file = this.#files.get(name);
    if (!file) {
      if ((flags & OPEN_CREATE) === 0) return ERRNO_NOENT;
      file = { bytes: new Uint8Array(256 * 1024), length: 0 };
      this.#files.set(name, file);
    } else if ((flags & OPEN_TRUNCATE) !== 0) {
      file.length = 0;
    }
    this.#open.set(this.#nextFd, { file, position: 0 });
    this.#view().setUint32(at, this.#nextFd++, true);
    return SUCCESS;
  }

  #read(fd: number, iovs: number, count: number, at: number): number {
    const open = this.#open.get(fd);
    if (!open) return ERRNO_BADF;
    let total = 0;
    for (const target of this.#buffers(iovs, count)) {
      const available = Math.min(target.length, Math.max(0, open.file.length - open.position));
      target.set(open.file.bytes.subarray(open.position, open.position + available));
      open.position += available;
      total += available;
    }
    this.#view().setUint32(at, total, true);
    return SUCCESS;
  }

  #write(fd: number, iovs: number, count: number, at: number): number {
    const open = this.#open.get(fd);
    if (!open) return ERRNO_BADF;
    let total = 0;
    for (const source of this.#buffers(iovs, count)) {
      const end = open.position + source.length;
      if (end > MAX_FILE_BYTES) return ERRNO_FBIG;
      reserve(open.file, end);
      open.file.bytes.set(source, open.position);
      open.position = end;
      open.file.length = Math.max(open.file.length, end);
      total += source.length;
    }
    this.#view().setUint32(at, total, true);
    return SUCCESS;
  }

  #seek(fd: number, offset: number, whence: number, at: number): number {
    const open = this.#open.get(fd);
    if (!open) return ERRNO_BADF;
    if (fd < ROOT_FD) return ERRNO_SPIPE;
    const base = whence === 0 ? 0 : whence === 1 ? open.position : open.file.length;
    open.position = Math.max(0, base + offset);
    return this.#setU64(at, BigInt(open.position));
  }

  #buffers(iovs: number, count: number): Uint8Array[] {
    const view = this.#view();
    return Array.from({ length: count }, (_, i) => {
      const start = view.getUint32(iovs + 8 * i, true);
      return this.#bytes().subarray(start, start + view.getUint32(iovs + 8 * i + 4, true));
    });
  }
}

function reserve(file: MemoryFile, byteLength: number): void {
  if (byteLength <= file.bytes.length) return;
  const grown = new Uint8Array(Math.max(byteLength, file.bytes.length * 2));
  grown.set(file.bytes.subarray(0, file.length));
  file.bytes = grown;
}
