import type pg from 'pg'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { handleRequests } from './child.ts'

/** One statement, repeated through a pool like that of the service: the limit of the database. */
export interface Statement {
  connection: pg.ClientConfig
  query: pg.QueryConfig
  /** Maximum statements in flight. */
  connections: number
  seconds: number
}

export interface StatementResult {
  statementsPerSecond: number
}

const warmMs = 500
let db: Database | undefined

handleRequests(async ({ connection, query, connections, seconds }: Statement, begin): Promise<StatementResult> => {
  db ??= openDatabase(connection)
  const { pool } = db
  let statementCount = 0
  let isRunning = true
  const loops = Array.from({ length: connections }, async () => {
    for (; isRunning; statementCount++) await pool.query(query)
  })
  await sleep(warmMs)
  statementCount = 0
  begin()
  const from = performance.now()
  await sleep(seconds * 1_000)
  const statementsPerSecond = (statementCount / (performance.now() - from)) * 1_000
  isRunning = false
  await Promise.all(loops)
  return { statementsPerSecond }
})

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
