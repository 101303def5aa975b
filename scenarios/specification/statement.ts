import type { Api } from './api.ts'
import type { Shop } from './shop.ts'

/** The service that statements are checked on. */
export interface StatementContext {
  api: Api
  shop: Shop
  /** A service of the same installation whose back office is older than 2022.1, and in which no gift voucher is configured. */
  old: Api | undefined
  /** All emails so far; undefined if the outbox is not accessible. */
  mails: (() => Promise<string>) | undefined
}

/** A statement of the specification. If it is false, `check` throws an error that gives the reason. */
export interface Statement {
  sentence: string
  check(trial: StatementContext): Promise<void>
}

/** A part of the specification, with its statements in their order. */
export interface Section {
  heading: string
  statements: readonly Statement[]
}

export const section = (heading: string, ...statements: Statement[]): Section => ({ heading, statements })
export const statement = (sentence: string, check: Statement['check']): Statement => ({ sentence, check })
