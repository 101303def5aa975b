/** What a driver does with customers (contract 4). */
// biome-ignore lint/suspicious/noEmptyInterface: it grows with the writes
export interface CustomerWrites {}
