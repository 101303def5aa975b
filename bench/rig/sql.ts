import type pg from 'pg'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { answerRequests } from './child.ts'

/** One statement, repeated through the service's kind of pool: the limit of the database. */
export interface Statement {
  connection: pg.ClientConfig
  query: pg.QueryConfig
  /** Statements in flight at a time. */
  connections: number
  seconds: number
}

export interface Ran {
  statementsPerSecond: number
}

const warmMs = 500
let db: Database | undefined

answerRequests(async ({ connection, query, connections, seconds }: Statement, begin): Promise<Ran> => {
  db ??= openDatabase(connection)
  const { pool } = db
  let done = 0
  let on = true
  const all = Array.from({ length: connections }, async () => {
    for (; on; done++) await pool.query(query)
  })
  await sleep(warmMs)
  done = 0
  begin()
  const from = performance.now()
  await sleep(seconds * 1_000)
  const statementsPerSecond = (done / (performance.now() - from)) * 1_000
  on = false
  await Promise.all(all)
  return { statementsPerSecond }
})

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
