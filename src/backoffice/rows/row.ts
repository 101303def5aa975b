/** A validated row by our column names; a column that is not given is missing, null clears. */
export type Row = Readonly<Record<string, unknown>>
