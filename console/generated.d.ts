// Modules that the server generates from its own tables and rules (src/console/assets.ts).

declare module 'tillbridge/remedies' {
  /** The remedy for each error code. */
  export const remedies: Record<string, string>
}

declare module 'tillbridge/settings' {
  /** The JSON Schema of each setting, with its description and default. */
  export const settings: Record<string, Setting>
  export interface Setting {
    type?: 'string' | 'integer' | 'boolean' | 'array' | 'object'
    description: string
    default: unknown
    enum?: string[]
    anyOf?: { type?: string; const?: unknown }[]
    minimum?: number
    maximum?: number
    maxLength?: number
  }
}

declare module 'tillbridge/changes' {
  /** The kinds of records in the change feed. */
  export const kinds: string[]
}

declare module 'tillbridge/mappings' {
  /** The kinds of records that can be mapped. */
  export type MappedKind = 'stores' | 'skus' | 'customers'
  /** The import type of the platform file for each kind. */
  export const platformImportTypes: Record<MappedKind, string>
  /** The CSV header of each kind, which an import of mappings accepts. */
  export const issueCsvHeaders: Record<MappedKind, string[]>
  /** Returns the cells of an issue under that header, or undefined if there is no record to map. */
  export const issueCsvCells: (kind: MappedKind, issue: unknown) => string[] | undefined
}

declare module 'tillbridge/health' {
  /** A state in words with its level. The level is null before the first result. */
  export interface Assessment {
    state: string
    level: 'ok' | 'degraded' | 'critical' | null
  }
  /** Formats a duration in its largest suitable unit. */
  export function formatDuration(seconds: number): string
  export function assessRun(run: object): Assessment
  export function assessImport(run: object, isDryRun: boolean): Assessment
  export function assessSync(sync: object): Assessment
  export function assessWebhook(webhook: object): Assessment
}

declare module 'tillbridge/operations' {
  /** The summary of each write of the API by its operation: `PUT /customers/:id`. */
  export const operationTitles: Record<string, string>
}

declare module 'tillbridge/formulas' {
  /** Returns a cell that is safe in a spreadsheet: a formula gets an apostrophe in front. */
  export const escapeFormula: (text: string) => string
  /** Reverses `escapeFormula`. */
  export const unescapeFormula: (text: string) => string
}

declare module 'tillbridge/import-types' {
  /** The import types with their columns, in the recommended order of import. */
  export const importTypes: Record<
    string,
    { description: string; role: string; canBeComplete: boolean; columns: Column[] }
  >
  /** Names that other systems give to our columns, in lowercase without spaces and punctuation. */
  export const synonyms: Record<string, string[]>
  export interface Column {
    name: string
    required: boolean
    type?: 'string' | 'integer' | 'number' | 'boolean'
    format?: string
    description: string
    example: string
    /** The column's names in exports of other systems. */
    aliases?: string[]
    /** The role that may import this column, if it is higher than the import type's. */
    role?: string
  }
}
