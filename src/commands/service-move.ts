import type pg from 'pg'
import { type Config, readConfig } from '../config/config.ts'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { getClientClass } from '../database/pg/internals.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { moveService } from '../runtime/shards/moves/move.ts'
import { requireMovable } from '../runtime/shards/moves/requirements.ts'
import { recoverMove } from '../store/moves/finish.ts'
import { beginMove, findMove, takeOverMove } from '../store/moves/moves.ts'
import { findShardUrl } from '../store/shards/shards.ts'
import { listAllServices } from '../store/tenancy/services.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import { describeRunningRestore } from './service-restore.ts'
import type { Command } from './terminal/command.ts'
import { createDisplay, createRowsDisplay, formatPace } from './terminal/progress.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  to?: string
  undo?: boolean
}

export const buildMoveCommand = (service: Command) =>
  service
    .command('move')
    .argument('<name>')
    .option('--to <shard>', 'the target shard (see tillbridge shard list)')
    .option('--undo', 'undo an interrupted move, or finish it after cutover')
    .description('Move a service to another database without downtime')
    .examples(
      ['service move luma --to eu-2', 'copies, compares and switches; writes pause for a few seconds'],
      ['service move luma --to eu-2', 'also resolves an interrupted move first'],
      ['service move luma --undo', 'only resolves an interrupted move'],
    )
    .action((name: string, { to, undo = false }: Options) => {
      if ((to === undefined) === !undo) throw new Error('Exactly one of --to <shard> and --undo is required.')
      return withDatabase(async session => {
        armFailpoint(readConfig().failpoint)
        const resolved = await resolveInterruptedMove(session, await findService(session, name))
        if (undo) return console.log(resolved ? describeOutcome(name, resolved) : `${name} is not being moved.`)
        if (resolved) console.log(describeOutcome(name, resolved))
        await move(session, await findService(session, name), to as string)
      })
    })

const describeOutcome = (name: string, { became, target }: { became: 'finished' | 'undone'; target: string }) =>
  became === 'finished'
    ? `Interrupted move finished: ${name} is in ${target}.`
    : `Interrupted move undone: ${name} stays in its previous shard.`

async function findService({ control, databases }: Session, name: string): Promise<Service> {
  const service = (await listAllServices(control)).find(candidate => candidate.name === name)
  if (!service) throw new Error(`Service ${name} not found. Run "tillbridge service list".`)
  if (service.database !== undefined) await databases.open(service.database)
  return service
}

/** Finishes or undoes an interrupted move. Returns undefined if no move is interrupted. */
async function resolveInterruptedMove({ control, databases }: Session, { id, name }: Service) {
  const interrupted = await findMove(control, id)
  if (!interrupted) return
  if (interrupted.target === null) throw new Error(describeRunningRestore(name))
  const resumedMove = await takeOverMove<string>(control, { ...interrupted, target: interrupted.target })
  if (!resumedMove) throw new Error(`Another process is moving ${name}, or was until seconds ago. Try again in 10 s.`)
  const stop = stopBySignal(
    new Error('Stopped. A worker continues the move. To continue it now, run the command again.'),
  )
  try {
    let openError: Error | undefined
    const target = await databases.open(resumedMove.target).catch((error: Error) => {
      openError = error
      return undefined
    })
    const source = await databases.open(resumedMove.source ?? undefined)
    const became = await recoverMove({ control, source, target }, resumedMove, stop.signal)
    if (became) return { became, target: resumedMove.target }
    const { message } = openError ?? {}
    throw new Error(
      resumedMove.state === 'switched'
        ? `${message} ${name} exists only there.`
        : `${message} The partial copy there is deleted once that shard is back. ${name} is served from its previous shard.`,
    )
  } finally {
    stop.end()
  }
}

async function move(session: Session, service: Service, to: string) {
  const { control, databases } = session
  const { name } = service
  const shardNames = await databases.names()
  if (!shardNames.includes(to))
    throw new Error(
      shardNames.length
        ? `Shard ${to} not found. Shards: ${shardNames.join(', ')}.`
        : `Shard ${to} not found. To register it: tillbridge shard add ${to} --url-file <file>`,
    )
  if (service.database === to) return console.log(`${name} is in ${to} already.`)
  const config = readConfig()
  if (config.databasePooler === 'transaction')
    throw new Error(
      "A service can't be moved through a pooler. Set DATABASE_URL to the server itself, without DATABASE_POOLER.",
    )
  const [source, target] = [await databases.open(service.database), await databases.open(to)]
  await requireMovable({ db: source, label: service.database ?? 'the control database' }, { db: target, label: to })
  const connectionString = await buildConnectionString(config, session, service.database)
  const started = await beginMove(control, service, to)
  if (!started) throw new Error(`${name} is already being moved.`)
  const stop = stopBySignal(new Error('Stopped.'))
  const [copy, removing] = [createCopyDisplay(), createRowsDisplay('Remove')]
  let lastMessage = ''
  try {
    await moveService(
      { control, source, target },
      started,
      connectionString,
      {
        onCopied: copy.show,
        onWaiting(message) {
          if (message !== lastMessage) console.error(message)
          lastMessage = message
        },
        onSwitched(pausedMs) {
          copy.end()
          console.log(`${name} moved to ${to}. Writes paused for ${(pausedMs / 1_000).toFixed(1)} s.`)
        },
        onPurged: removing.show,
      },
      stop.signal,
    )
    console.log(`Old copy of ${name} deleted.`)
  } finally {
    stop.end()
    copy.end()
    removing.end()
  }
}

/** Shows the progress of the copy in rows and tables. */
const createCopyDisplay = () =>
  createDisplay(
    'Copy',
    ({ rows, total, ready, tables }: { rows: number; total: number; ready: number; tables: number }, elapsedMs) =>
      formatPace(total ? Math.min(1, rows / total) : undefined, elapsedMs, [
        countNoun(rows, 'row'),
        `${ready} of ${tables} tables`,
      ]),
  )

/** Builds the connection string (libpq) with which another server reaches a database: its URL, or the socket of the bundled PostgreSQL. */
async function buildConnectionString(
  config: Config,
  { control, keys }: { control: Database; keys: Keys },
  database: string | undefined,
): Promise<string> {
  const url = database === undefined ? config.databaseUrl : await findShardUrl(control, keys, database)
  if (url !== undefined)
    return url.includes(',') ? `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=read-write` : url
  const Client = getClientClass(control.pool)
  const { host, port, user, password, database: dbname } = new Client(control.pool.options as pg.ClientConfig)
  return Object.entries({ host, port, user, password, dbname })
    .flatMap(([name, value]) => (value ? [`${name}='${String(value).replaceAll(/['\\]/g, '\\$&')}'`] : []))
    .join(' ')
}
