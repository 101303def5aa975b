import pg from 'pg'
import { BatchingClient } from '../../../src/database/pg/batching.ts'

/** A node of a plan, as EXPLAIN's JSON has it. */
interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Scan Direction'?: 'Forward' | 'Backward'
  'Index Cond'?: string
  Filter?: string
  'Sort Key'?: string[]
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** One step of a plan: what reads a table, or does more with rows than hand them on. */
export interface Step {
  /** The operation and its index or table. */
  does: string
  /** The condition of the index or the sort order, without values. */
  by: string
  /** The condition that discards rows after they were read. */
  filter: string
  /** Rows that it reads or takes each time it is done, those that it throws away included. */
  rows: number
}

/** The plan of a statement. */
export interface Plan {
  /** True if the plan is generic, false if it is made again for the values of each call. */
  generic: boolean
  steps: Step[]
}

/** Runs `work`. Returns its result and the statements that it sent. */
export async function statementsOf<T>(work: () => Promise<T>): Promise<{ result: T; statements: pg.QueryConfig[] }> {
  const statements: pg.QueryConfig[] = []
  const { query } = BatchingClient.prototype
  BatchingClient.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    statements.push(args[0] as pg.QueryConfig)
    return Reflect.apply(query, this, args)
  } as unknown as typeof query
  try {
    return { result: await work(), statements }
  } finally {
    BatchingClient.prototype.query = query
  }
}

/** So many times PostgreSQL plans a prepared statement for its values, before it weighs one plan for all. */
const customPlans = 5

/** A separate connection that repeats statements. `auto_explain` logs how each was executed. */
export interface Explainer {
  /** The plan that a statement comes to have on a connection that stays open. */
  explain(statement: pg.QueryConfig): Promise<Plan>
  close(): Promise<void>
}

export async function openExplainer(connectionString: string): Promise<Explainer> {
  const client = new pg.Client({ connectionString, options: '-c timezone=UTC' })
  await client.connect()
  await client.query("load 'auto_explain'")
  const settings = {
    log_min_duration: 0,
    log_level: 'notice',
    log_format: 'json',
    log_analyze: true,
    log_timing: false,
  }
  for (const [name, value] of Object.entries(settings)) await client.query(`set auto_explain.${name} = ${value}`)
  let explained = ''
  client.on('notice', ({ message = '' }) => {
    explained = message.slice(message.indexOf('{'))
  })
  const prepared = new Set<string>()
  return {
    async explain(statement) {
      const { name } = statement
      if (name !== undefined && !prepared.has(name)) {
        for (let i = 0; i < customPlans; i++) await client.query(statement)
        prepared.add(name)
      }
      await client.query(statement)
      const { Plan: top } = JSON.parse(explained) as { Plan: Node }
      return { generic: /\$\d/.test(JSON.stringify(top)), steps: stepsOf(top) }
    },
    close: () => client.end(),
  }
}

/** Nodes that pass rows on without storing them. */
const passing = ['Result', 'Limit', 'Aggregate', 'CTE Scan', 'Subquery Scan', 'Nested Loop']

function stepsOf(node: Node): Step[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index = table } = node
  const inside = (node.Plans ?? []).flatMap(stepsOf)
  if (passing.includes(type)) return inside
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return [
    {
      does: [type, ...(node['Scan Direction'] === 'Backward' ? ['Backward'] : []), ...(index ? [index] : [])].join(' '),
      by: withoutValues(node['Index Cond'] ?? node['Sort Key']?.join(', ') ?? ''),
      filter: withoutValues(node.Filter ?? ''),
      rows: table ? node['Actual Rows'] + removed : Math.max(0, ...inside.map(({ rows }) => rows)),
    },
    ...inside,
  ]
}

/** A condition, or a sort key, without its values and without what only a parser needs. */
const withoutValues = (text: string) =>
  unwrapped(text)
    .split(' AND ')
    .map((part, _, { length }) => (length > 1 ? unwrapped(part) : part))
    .join(', ')
    .replaceAll(/\(\(array_agg\([\w.]+\)\)\[count\(\*\)\]\)/g, 'last')
    .replaceAll(/\(InitPlan \d+\)\.col1|\$\d+|'[^']*'::[a-z ]+(\[\])?|\b\d+\b/g, '?')
    .replaceAll(/ COLLATE "C"|\b\w+\.(?=\w)|ROW(?=\()/g, '')

const unwrapped = (text: string) => text.replace(/^\((.*)\)$/, '$1')
