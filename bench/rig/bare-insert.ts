import fastify from 'fastify'
import pg from 'pg'
import { tlsOptions } from '../../src/tls/tls.ts'
import { handleRequests } from './child.ts'

/** Parameters of a bare server that inserts the body into a table with `pg` and returns its ID: the limit of a durable write in one process. */
export interface BareInsert {
  connection: pg.ClientConfig
  certificate: { cert: string; key: string }
}

handleRequests(async ({ connection, certificate }: BareInsert): Promise<{ port: number }> => {
  const pool = new pg.Pool({ ...connection, max: 10 })
  await pool.query(
    'create table if not exists bench_insert (id bigint generated always as identity primary key, body jsonb not null)',
  )
  const server = fastify({ https: { ...tlsOptions, ...certificate } })
  server.post('/customers', async ({ body }) => {
    const { rows } = await pool.query<{ id: string }>({
      name: 'insert',
      text: 'insert into bench_insert (body) values ($1) returning id',
      values: [JSON.stringify(body)],
    })
    return { data: rows[0] }
  })
  return { port: Number(new URL(await server.listen({ port: 0, host: '127.0.0.1' })).port) }
})
