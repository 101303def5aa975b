import pg from 'pg'
import { type Db, sql } from '../../../src/database/db.ts'
import type { Declared } from './declared.ts'
import type { Recorded } from './recorder.ts'

/** A value of each type that a column has, as PostgreSQL writes it: what `pg` makes of it is what columns of the type come as. */
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

/** By its OID what a type comes as, in TypeScript's words; `json` may be whatever JSON can say. */
export type ComesAs = Map<number, string>

export async function comesAs(db: Db): Promise<ComesAs> {
  const types = await db.rows<{ oid: number; name: string }>(
    sql`select oid::integer as oid, typname::text as name from pg_type where typname = any(${Object.keys(samples)})`,
  )
  const parsed = (oid: number, name: string) => pg.types.getTypeParser(oid, 'text')(samples[name] ?? '')
  return new Map(types.map(({ oid, name }) => [oid, name.startsWith('json') ? 'json' : typeName(parsed(oid, name))]))
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return `${typeName(value[0])}[]`
  if (Buffer.isBuffer(value)) return 'Buffer'
  return value instanceof Date ? 'Date' : typeof value
}

/** In what the rows that came are not what they are declared to be. */
export function differences(
  types: ComesAs,
  { at, fields }: Declared,
  { columns, nulls }: Omit<Recorded, 'at'>,
): string[] {
  const names = new Set([...Object.keys(fields), ...Object.keys(columns)])
  return [...names].flatMap(name => {
    const field = fields[name]
    const oid = columns[name]
    const say = (text: string) => [`${at} ${name} ${text}`]
    if (!field) return say('is not declared')
    if (oid === undefined) return say('does not come')
    const type = types.get(oid) ?? `a type without a sample, ${oid}`
    const declared = field.type.replace(/^readonly /, '')
    if (type === 'json' ? /^(Date|Buffer|bigint|never)\b/.test(declared) : type !== declared)
      return say(`is declared ${field.type}, and comes as ${type}`)
    return nulls.includes(name) && !field.nullable ? say('comes as null') : []
  })
}
