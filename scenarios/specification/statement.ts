import type { Api } from './api.ts'
import type { Shop } from './shop.ts'

/** What statements are tried on. */
export interface Trial {
  api: Api
  shop: Shop
  /** A service of the same installation whose back office is older than 2022.1, and in which no gift voucher is configured. */
  old: Api | undefined
  /** All e-mails that went out so far; undefined where nobody can look. */
  mails: (() => Promise<string>) | undefined
}

/** A statement of the specification. It holds where `tried` ends; what it throws says why it does not. */
export interface Statement {
  says: string
  tried(trial: Trial): Promise<void>
}

/** A part of the specification, its statements in the order in which they stand there. */
export interface Section {
  heading: string
  statements: readonly Statement[]
}

export const section = (heading: string, ...statements: Statement[]): Section => ({ heading, statements })
export const says = (says: string, tried: Statement['tried']): Statement => ({ says, tried })
