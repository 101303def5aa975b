// Modules that the server makes of its own tables and rules (src/console/assets.ts).

declare module 'tillbridge/remedies' {
  /** What to do about each error, by its code. */
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
  /** The kinds of records whose changes are told. */
  export const kinds: string[]
}

declare module 'tillbridge/mappings' {
  /** What can be mapped. */
  export type MappedKind = 'stores' | 'skus' | 'customers'
  /** The import type of the platform file for each kind. */
  export const platformImportTypes: Record<MappedKind, string>
  /** The CSV header of each kind, which an import of mappings accepts. */
  export const issueCsvHeaders: Record<MappedKind, string[]>
  /** Returns the cells of an issue under that header, or undefined if there is no record to map. */
  export const issueCsvCells: (kind: MappedKind, issue: unknown) => string[] | undefined
}

declare module 'tillbridge/formulas' {
  /** A cell as it can be opened in a spreadsheet: what would be run there has an apostrophe in front. */
  export const withoutFormula: (text: string) => string
  /** The cell again that `withoutFormula` was given. */
  export const asItWas: (text: string) => string
}

declare module 'tillbridge/import-types' {
  /** The import types with their columns, in the recommended order of import. */
  export const importTypes: Record<string, { description: string; role: string; columns: Column[] }>
  export interface Column {
    name: string
    required: boolean
    type?: 'string' | 'integer' | 'number' | 'boolean'
    format?: string
    description: string
    example: string
    /** What exports of other systems call it. */
    titles?: string[]
    /** Who may give it, where that is not everybody who may import the kind. */
    role?: string
  }
}
