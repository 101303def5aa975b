import pg from 'pg'
import { BatchingClient } from '../../../src/database/pg/batching.ts'

/** A node of a plan in the JSON format of EXPLAIN. */
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

/** A step of a plan that reads a table or stores rows. */
export interface Step {
  /** The operation and its index or table. */
  operation: string
  /** The condition of the index or the sort order, without values. */
  condition: string
  /** The condition that discards rows after they were read. */
  filter: string
  /** Rows that the step reads or receives per execution, including those that it discards. */
  rows: number
}

/** The plan of a statement. */
export interface Plan {
  /** True if the plan is used for all values, false if PostgreSQL plans each call for its values. */
  isGeneric: boolean
  steps: Step[]
}

/** Runs `work`. Returns its result and the statements that it sent. */
export async function captureStatements<T>(
  work: () => Promise<T>,
): Promise<{ result: T; statements: pg.QueryConfig[] }> {
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

/** Number of times that PostgreSQL plans a prepared statement for its values before it considers a generic plan. */
const customPlans = 5

/** A separate connection that repeats statements. `auto_explain` logs the plan of each execution. */
export interface Explainer {
  /** Returns the plan that a repeated statement has on a persistent connection. */
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
  let explanation = ''
  client.on('notice', ({ message = '' }) => {
    explanation = message.slice(message.indexOf('{'))
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
      const { Plan: top } = JSON.parse(explanation) as { Plan: Node }
      return { isGeneric: /\$\d/.test(JSON.stringify(top)), steps: listSteps(top) }
    },
    close: () => client.end(),
  }
}

/** Nodes that pass rows on without storing them. */
const passThroughNodes = ['Result', 'Limit', 'Aggregate', 'CTE Scan', 'Subquery Scan', 'Nested Loop']

function listSteps(node: Node): Step[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index = table } = node
  const childSteps = (node.Plans ?? []).flatMap(listSteps)
  if (passThroughNodes.includes(type)) return childSteps
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return [
    {
      operation: [type, ...(node['Scan Direction'] === 'Backward' ? ['Backward'] : []), ...(index ? [index] : [])].join(
        ' ',
      ),
      condition: withoutValues(node['Index Cond'] ?? node['Sort Key']?.join(', ') ?? ''),
      filter: withoutValues(node.Filter ?? ''),
      rows: table ? node['Actual Rows'] + removed : Math.max(0, ...childSteps.map(({ rows }) => rows)),
    },
    ...childSteps,
  ]
}

/** Returns a condition or a sort key without values, aliases, collations and outer parentheses. */
const withoutValues = (text: string) =>
  removeParentheses(text)
    .split(' AND ')
    .map((part, _, { length }) => (length > 1 ? removeParentheses(part) : part))
    .join(', ')
    .replaceAll(/\(\(array_agg\([\w.]+\)\)\[count\(\*\)\]\)/g, 'last')
    .replaceAll(/\(InitPlan \d+\)\.col1|\$\d+|'[^']*'::[a-z ]+(\[\])?|\b\d+\b/g, '?')
    .replaceAll(/ COLLATE "C"|\b\w+\.(?=\w)|ROW(?=\()/g, '')

const removeParentheses = (text: string) => text.replace(/^\((.*)\)$/, '$1')
