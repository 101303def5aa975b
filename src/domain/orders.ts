/** What a driver does with orders and returns (contract 6). */
// biome-ignore lint/suspicious/noEmptyInterface: it grows with the writes
export interface OrderWrites {}
