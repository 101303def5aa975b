import type { Script } from '../pipeline/cells.ts'

/** How a file says what our columns say, where it is another way. */
export interface Dialect extends Script {
  /** Our column names with those of the file, where these differ. */
  map?: ReadonlyMap<string, string>
  /** Columns of the file to be passed over. */
  ignore?: readonly string[]
  /** Those that are not known are passed over too. */
  ignoresUnknown?: boolean
  /** Columns of ours, with the text that every line has for them. */
  set?: ReadonlyMap<string, string>
  /** Columns of ours that are times, with those of the file that have their clock; an empty name is the only one that there is. */
  clocks?: ReadonlyMap<string, string>
  /** Columns of ours that whoever sends it may not give. */
  withheld?: readonly string[]
  /** One ASCII character. */
  delimiter?: string | undefined
  /** A label of the Encoding Standard (WHATWG), such as `windows-1252`. */
  encoding?: string | undefined
}
