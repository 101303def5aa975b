/** The freshness of a customer's stored history. */
export interface HistoryFreshness {
  /** When the history was last synced (RFC 3339). Undefined if unknown. */
  syncedAt: string | undefined
  /** Why the history can be outdated. */
  warning?: { code: string; detail: string }
}
