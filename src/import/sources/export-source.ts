/** What a file looks like: its size in bytes, and when it was last changed, in milliseconds as far as the place tells them. */
export interface Mark {
  size: number
  changedAt: number
}

/** A file within reach of this machine, and where its rejected lines go. */
export interface Brought {
  path: string
  rejectedPath: string
}

/** A folder that exports arrive in, with `done/` and `failed/` in it, wherever it is. Each call throws `ExportsUnreadable` where it cannot be had. */
export interface ExportPlace {
  /** Makes `done/` and `failed/`, where they are not there. */
  makeRoom(): Promise<void>
  /** The names of all that is in it. */
  names(): Promise<string[]>
  /** Undefined where there is no file of that name, or none any more. */
  markOf(name: string): Promise<Mark | undefined>
  bring(name: string, mark: Mark): Promise<Brought>
  /** Moves a file out of the way, for good; what was rejected of it is in `failed/` before. Returns where to. */
  leave(name: string, to: 'done' | 'failed'): Promise<string>
  close(): Promise<void>
}

/** The place cannot be had. The message is for an alert, and holds no secret. */
export class ExportsUnreadable extends Error {
  override name = 'ExportsUnreadable'
  /** Waiting does not mend it: somebody has to. */
  isLasting: boolean

  constructor(message: string, isLasting = false) {
    super(message)
    this.isLasting = isLasting
  }
}

/** The name, or one beside it where something is there: nothing that was kept is written over. */
export async function freeName(name: string, isThere: (name: string) => Promise<boolean>): Promise<string> {
  for (let i = 0; ; i++) {
    const candidate = i ? `${name}.${i}` : name
    if (!(await isThere(candidate))) return candidate
  }
}
