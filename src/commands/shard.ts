import { readConfig } from '../config/config.ts'
import { databaseSettings } from '../config/database.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { addShard } from '../runtime/shards/add-shard.ts'
import { deleteShard, listShards } from '../store/shards/shards.ts'
import type { Command } from './terminal/command.ts'
import { readSecret } from './terminal/secret.ts'
import { withDatabase } from './terminal/session.ts'
import { formatTable } from './terminal/table.ts'
import { requireName } from './terminal/validate-input.ts'

export function buildShardCommand(program: Command) {
  const shard = program
    .command('shard')
    .description('Manage shards (databases for services)')
    .examples(
      ['shard add eu-2 --url-file eu-2.url', 'registers a database'],
      ['service add luma --shard eu-2', 'creates a service in it'],
      ['shard list', 'lists all shards'],
    )

  shard
    .command('add')
    .argument('<name>', 'the name of the shard')
    .option('--url-file <file>', 'file with its URL (default: standard input)')
    .option('--adopt <service...>', 'adopt services that an older control database has elsewhere')
    .description('Register a database, or change its URL')
    .examples(
      ['shard add eu-2 --url-file eu-2.url', 'creates the tables and stores the URL encrypted'],
      ['shard add eu-2 < eu-2.url', 'also after it was moved or restored'],
      ['shard add eu-2 --adopt luma < eu-2.url', 'after luma was moved and the control database was restored'],
    )
    .action(async (name: string, { urlFile, adopt }: { urlFile?: string; adopt?: string[] }) => {
      requireName('shard', name)
      const url = parseUrl(await readSecret('URL of the shard, postgres://… (not shown): ', urlFile, 'URL'))
      await withDatabase(async ({ control: db, keys }) => {
        const { services, notes } = await addShard(readConfig(), { db, keys }, { name, url, ...(adopt && { adopt }) })
        for (const note of notes) console.log(note)
        const next = services ? countNoun(services, 'service') : 'empty'
        console.log(`Shard ${name} registered (${next}). Next: tillbridge service add <name> --shard ${name}`)
      })
    })

  shard
    .command('list')
    .description('List shards with services and status')
    .examples(['shard list', 'exits with 1 if a shard is unavailable'])
    .action(() =>
      withDatabase(async ({ control, databases }) => {
        const rows: string[][] = []
        for (const { name, services, added } of await listShards(control)) {
          const error = await databases.open(name).then(
            () => undefined,
            (reason: Error) => reason.message,
          )
          if (error) process.exitCode = 1
          rows.push([name, String(services), added.toISOString().slice(0, 10), error ?? 'ok'])
        }
        console.log(formatTable(['shard', 'services', 'added', 'status'], rows))
      }),
    )

  shard
    .command('remove')
    .argument('<name>')
    .description('Unregister an empty shard')
    .examples(['shard remove eu-2', 'unregisters it; the database itself stays'])
    .action((name: string) =>
      withDatabase(async ({ control }) => {
        const entry = (await listShards(control)).find(candidate => candidate.name === name)
        if (!entry) throw new Error(`Shard ${name} not found. Run "tillbridge shard list".`)
        if (entry.services)
          throw new Error(
            `Shard ${name} has ${countNoun(entry.services, 'service')}. Remove or move them first: tillbridge service move, tillbridge service remove`,
          )
        await deleteShard(control, name)
        console.log(`Shard ${name} unregistered.`)
      }),
    )
}

/** Validates a URL like DATABASE_URL. Throws if it is invalid. */
function parseUrl(text: string): string {
  try {
    databaseSettings.DATABASE_URL.read(text)
    return text
  } catch (error) {
    throw new Error(`The URL ${(error as Error).message}.`)
  }
}
