import type { ValueFormat } from '../pipeline/cells.ts'
import type { LineConverterName } from './line-converters.ts'

/** How a file differs from the standard columns and formats. */
export interface Dialect extends ValueFormat {
  /** The file's names by our column names. */
  map?: ReadonlyMap<string, string>
  ignore?: readonly string[]
  /** Ignores unknown columns as well. */
  ignoreUnknown?: boolean
  /** A constant text by our column names. */
  set?: ReadonlyMap<string, string>
  /** The file's columns with the time of day, by our names of the date columns. An empty name stands for the only date column. */
  timeColumns?: ReadonlyMap<string, string>
  /** Our columns that the role of the client can't import. */
  forbiddenColumns?: readonly string[]
  /** The file's values by our column names: `{ status: { fulfilled: 'shipped' } }`, in any case. */
  values?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  /** Mapped columns can be missing, unless the import type requires them. */
  allowMissing?: boolean | undefined
  /** Converts lines that are not one record each. CSV only. */
  lines?: LineConverterName | undefined
  /** One ASCII character. */
  delimiter?: string | undefined
  /** A label of the Encoding Standard (WHATWG), such as `windows-1252`. */
  encoding?: string | undefined
}
