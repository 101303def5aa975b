/** How far what is stored of a customer can be believed. */
export interface Brought {
  /** When the back office was last asked for it (RFC 3339); undefined: not as far as is known. */
  syncedAt: string | undefined
  /** Why it is not as it stands there now. */
  warning?: { code: string; detail: string }
}
