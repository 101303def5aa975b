import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { wayTo } from '../runtime/shards/moves/connection-string.ts'
import { moveService } from '../runtime/shards/moves/move.ts'
import { requireMovable } from '../runtime/shards/moves/requirements.ts'
import { settleMove } from '../store/moves/finish.ts'
import { beginMove, findMove, takeOver } from '../store/moves/moves.ts'
import { listAllServices } from '../store/tenancy/services.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import { examples } from './terminal/examples.ts'
import { display, pacedWords, rowsDisplay } from './terminal/progress.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  to?: string
  undo?: boolean
}

export const moveCommand = (service: Command) =>
  service
    .command('move')
    .argument('<name>')
    .option('--to <database>', 'the data database that it is to be in (tillbridge database list)')
    .option('--undo', 'take back a move that was broken off, or end one that was switched already')
    .description('Move a service to another database while it is served; its writes pause for some seconds.')
    .addHelpText(
      'after',
      examples(
        ['service move luma --to eu-2', 'copies it, compares, switches; what fails is undone'],
        ['service move luma --to eu-2', 'also where one was broken off: that is settled first'],
        ['service move luma --undo', 'only settles one that was broken off'],
      ),
    )
    .action((name: string, { to, undo = false }: Options) => {
      if ((to === undefined) === !undo) throw new Error('Say where it is to go, --to <database>, or --undo.')
      return withDatabase(async session => {
        armFailpoint(readConfig().failpoint)
        const settled = await settle(session, await find(session, name))
        if (undo) return console.log(settled ? told(name, settled) : `No move of ${name} is under way.`)
        if (settled) console.log(told(name, settled))
        await move(session, await find(session, name), to as string)
      })
    })

const told = (name: string, { became, target }: { became: 'finished' | 'undone'; target: string }) =>
  became === 'finished'
    ? `A move that was broken off is finished: ${name} is in ${target}.`
    : `A move that was broken off is undone: ${name} is served where it was.`

async function find({ control, databases }: Session, name: string): Promise<Service> {
  const found = (await listAllServices(control)).find(each => each.name === name)
  if (!found) throw new Error(`There is no service ${name}; to see all: tillbridge service list`)
  if (found.database !== undefined) await databases.open(found.database)
  return found
}

/** Ends a move that somebody has left half done; undefined where there is none. */
async function settle({ control, databases }: Session, { id, name }: Service) {
  const found = await findMove(control, id)
  if (!found) return
  const move = await takeOver(control, found)
  if (!move)
    throw new Error(`${name} is being moved right now by another process, or was until seconds ago: try again in 10 s.`)
  const stop = stopBySignal(new Error('Stopped: a worker goes on with it, or the same command again.'))
  try {
    let away: Error | undefined
    const target = await databases.open(move.target).catch((error: Error) => {
      away = error
      return undefined
    })
    const source = await databases.open(move.source ?? undefined)
    const became = await settleMove({ control, source, target }, move, stop.signal)
    if (became) return { became, target: move.target }
    const { message } = away ?? {}
    throw new Error(
      move.state === 'switched'
        ? `${message} ${name} is there, and nowhere else.`
        : `${message} What a move has left there goes once it is back; ${name} does not wait for that where it was.`,
    )
  } finally {
    stop.end()
  }
}

async function move(session: Session, service: Service, to: string) {
  const { control, databases } = session
  const { name } = service
  const known = await databases.names()
  if (!known.includes(to))
    throw new Error(
      known.length
        ? `There is no database ${to}; there are: ${known.join(', ')}.`
        : `There is no database ${to}; make it known with: tillbridge database add ${to} --url-file <file>`,
    )
  if (service.database === to) return console.log(`${name} is in ${to} already.`)
  const config = readConfig()
  if (config.databasePooler === 'transaction')
    throw new Error(
      'A move does not go through a pooler: let DATABASE_URL name the server itself, without DATABASE_POOLER.',
    )
  const [source, target] = [await databases.open(service.database), await databases.open(to)]
  await requireMovable({ db: source, called: service.database ?? 'the control database' }, { db: target, called: to })
  const at = await wayTo(config, session, service.database)
  const begun = await beginMove(control, service, to)
  if (!begun) throw new Error(`${name} is being moved already.`)
  const stop = stopBySignal(new Error('Stopped.'))
  const [copy, removing] = [copyDisplay(), rowsDisplay('Remove')]
  let waited = ''
  try {
    await moveService(
      { control, source, target },
      begun,
      at,
      {
        onCopied: copy.show,
        onWaiting(what) {
          if (what !== waited) console.error(what)
          waited = what
        },
        onSwitched(pausedMs) {
          copy.end()
          console.log(`${name} is served from ${to}. Its writes paused for ${(pausedMs / 1_000).toFixed(1)} s.`)
        },
        onEmptied: removing.show,
      },
      stop.signal,
    )
    console.log(`Nothing of ${name} is left where it was.`)
  } finally {
    stop.end()
    copy.end()
    removing.end()
  }
}

/** Progress of the copy, by rows and tables. */
const copyDisplay = () =>
  display(
    'Copy',
    ({ rows, of, ready, tables }: { rows: number; of: number; ready: number; tables: number }, elapsedMs) =>
      pacedWords(of ? Math.min(1, rows / of) : undefined, elapsedMs, [
        `${rows.toLocaleString('en')} rows`,
        `${ready} of ${tables} tables`,
      ]),
  )
