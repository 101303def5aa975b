import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, raw, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { type Packages, toManifest } from './install-packages.ts'

/** A directory for an installed program, and a separate PostgreSQL with an empty database. */
export interface ProgramHome {
  directory: string
  /** The file for its output. */
  log: string
  /** The process ID of PostgreSQL, for measurements. */
  databasePid: number
  databaseUrl: string
  stopPostgres(): Promise<void>
}

/** Creates the home `parent/name` of a program that finds `packages` there. `installed`: the directory of their installation. */
export async function createProgramHome(
  parent: string,
  name: string,
  packages: Packages,
  installed: string,
): Promise<ProgramHome> {
  const directory = join(parent, name)
  // A run that failed or was killed leaves its directory and its database.
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), toManifest(packages))
  symlinkSync(join(installed, 'node_modules'), join(directory, 'node_modules'))
  const postgres = await startPostgres(join(parent, `${name}-postgres`))
  const { host, port, user } = postgres.connection
  const toUrl = (database: string) =>
    `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  const db = openDatabase(toUrl(postgres.connection.database), {
    max: 1,
    statementTimeoutMs: 60_000,
    onFault: () => {},
  })
  await db.run(sql`drop database if exists ${raw(name)}`)
  await db.run(sql`create database ${raw(name)}`)
  await db.close()
  return {
    directory,
    log: join(directory, `${name}.log`),
    databasePid: postgres.pid,
    databaseUrl: toUrl(name),
    stopPostgres: () => postgres.stop(),
  }
}
