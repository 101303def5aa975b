import pg from 'pg'
import { type Db, sql } from '../../../src/database/db.ts'
import type { DeclaredCall } from './declared.ts'
import type { RecordedCall } from './recorder.ts'

/** A value of each type of our columns, in PostgreSQL's text format. `pg` parses it to a value of the TypeScript type. */
const samples: Record<string, string> = {
  bool: 't',
  int4: '1',
  _int4: '{1}',
  int8: '1',
  float8: '0.5',
  numeric: '0.5',
  text: 'a',
  name: 'a',
  _text: '{a}',
  uuid: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91',
  bytea: '\\x00',
  _bytea: '{"\\\\x00"}',
  date: '2026-11-22',
  timestamptz: '2026-11-22 09:30:00+00',
  json: '{}',
  jsonb: '{}',
}

/** The TypeScript type of the values of each PostgreSQL type, by OID; `json` for any JSON value. */
export type ColumnTypes = Map<number, string>

export async function readColumnTypes(db: Db): Promise<ColumnTypes> {
  const types = await db.rows<{ oid: number; name: string }>(
    sql`select oid::integer as oid, typname::text as name from pg_type where typname = any(${Object.keys(samples)})`,
  )
  const parseSample = (oid: number, name: string) => pg.types.getTypeParser(oid, 'text')(samples[name] ?? '')
  return new Map(
    types.map(({ oid, name }) => [oid, name.startsWith('json') ? 'json' : getTypeName(parseSample(oid, name))]),
  )
}

function getTypeName(value: unknown): string {
  if (Array.isArray(value)) return `${getTypeName(value[0])}[]`
  if (Buffer.isBuffer(value)) return 'Buffer'
  return value instanceof Date ? 'Date' : typeof value
}

/** Returns the differences between the declared type of a call and its recorded rows. */
export function findDifferences(
  types: ColumnTypes,
  { at, fields }: DeclaredCall,
  { columns, nulls }: Omit<RecordedCall, 'at'>,
): string[] {
  const names = new Set([...Object.keys(fields), ...Object.keys(columns)])
  return [...names].flatMap(name => {
    const field = fields[name]
    const oid = columns[name]
    const describe = (text: string) => [`${at} ${name} ${text}`]
    if (!field) return describe('is not declared')
    if (oid === undefined) return describe('is missing')
    const type = types.get(oid) ?? `a type without a sample, ${oid}`
    const declared = field.type.replace(/^readonly /, '')
    if (type === 'json' ? /^(Date|Buffer|bigint|never)\b/.test(declared) : type !== declared)
      return describe(`is declared ${field.type}, but is ${type}`)
    return nulls.includes(name) && !field.nullable ? describe('is null') : []
  })
}
