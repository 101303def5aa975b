/** The version of a file: its size in bytes, and its last change in milliseconds, as precise as the source. */
export interface FileVersion {
  size: number
  changedAt: number
}

/** A file on this machine, and the path for its rejected lines. */
export interface LocalCopy {
  path: string
  rejectedPath: string
}

/** A local or remote folder that receives exports, with `done/` and `failed/` in it. Each call throws `ExportsUnreadable` if it fails. */
export interface ExportFolder {
  /** Creates `done/` and `failed/` if they are missing. */
  createFolders(): Promise<void>
  listNames(): Promise<string[]>
  /** Returns undefined if the file doesn't exist. */
  getVersion(name: string): Promise<FileVersion | undefined>
  fetch(name: string, version: FileVersion): Promise<LocalCopy>
  /** Moves a file to `done/` or `failed/`, after its rejected lines are in `failed/`. Returns the new path. */
  moveTo(name: string, to: 'done' | 'failed'): Promise<string>
  close(): Promise<void>
}

/** The export folder can't be read. The message is for an alert, and has no secret. */
export class ExportsUnreadable extends Error {
  override name = 'ExportsUnreadable'
  /** True if retries can't help: the settings or the server must be corrected. */
  isLasting: boolean

  constructor(message: string, isLasting = false) {
    super(message)
    this.isLasting = isLasting
  }
}

/** Returns the name, or the first free one with a number, so that no file is overwritten. */
export async function findFreeName(name: string, exists: (name: string) => Promise<boolean>): Promise<string> {
  for (let i = 0; ; i++) {
    const candidate = i ? `${name}.${i}` : name
    if (!(await exists(candidate))) return candidate
  }
}
