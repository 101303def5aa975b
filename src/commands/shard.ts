import type { Command } from 'commander'

import { readConfig } from '../config/config.ts'
import { databaseSettings } from '../config/database.ts'
import { joinInstallation } from '../runtime/installation/installation.ts'
import { addDatabase } from '../runtime/shards/add-shard.ts'
import { forgetDatabase, listDatabases } from '../store/shards/shards.ts'
import { examples } from './terminal/examples.ts'
import { requireName } from './terminal/names.ts'
import { readSecret } from './terminal/secret.ts'
import { withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

export function databaseCommand(program: Command) {
  const database = program
    .command('database')
    .description('Data databases: further PostgreSQL servers that services can be in (docs/operate/high-availability.md).')
    .addHelpText(
      'after',
      examples(
        ['database add eu-2 --url-file eu-2.url', 'make one known'],
        ['service add luma --database eu-2', 'make a service there'],
        ['database list', 'see all'],
      ),
    )

  database
    .command('add')
    .argument('<name>', 'what it is called from now on')
    .option('--url-file <file>', 'where its URL is, a line; asked for, or read from standard input, if not given')
    .option('--take <service...>', 'services in it that the control database, restored from before, has elsewhere')
    .description('Make a database known, or another address of one that is: an empty one, or one of before.')
    .addHelpText(
      'after',
      examples(
        ['database add eu-2 --url-file eu-2.url', 'its tables are made; its URL is kept encrypted'],
        ['database add eu-2 < eu-2.url', 'the same; also where it has moved, or was restored'],
        ['database add eu-2 --take luma < eu-2.url', 'luma was moved there, and the control database restored since'],
      ),
    )
    .action(async (name: string, { urlFile, take }: { urlFile?: string; take?: string[] }) => {
      requireName('database', name)
      const url = urlIn(await readSecret('Its URL, postgres://… (not shown): ', urlFile, 'URL'))
      const config = readConfig()
      const installation = await joinInstallation(config, {
        statementTimeoutMs: 0,
        onNotice: notice => console.error(notice),
      })
      try {
        const { services, told } = await addDatabase(config, installation, { name, url, ...(take && { take }) })
        for (const each of told) console.log(each)
        const next = services ? `with the ${services} services in it` : 'and empty'
        console.log(`The database ${name} is known, ${next}. Next: tillbridge service add <name> --database ${name}`)
      } finally {
        await installation.close()
      }
    })

  database
    .command('list')
    .description('The data databases, how many services are in each, and whether it can be worked with.')
    .addHelpText('after', examples(['database list', 'exits with 1 where one cannot be worked with']))
    .action(() =>
      withDatabase(async ({ control, databases }) => {
        const rows: string[][] = []
        for (const { name, services, added } of await listDatabases(control)) {
          const fault = await databases.open(name).then(
            () => undefined,
            (error: Error) => error.message,
          )
          if (fault) process.exitCode = 1
          rows.push([name, String(services), added.toISOString().slice(0, 10), fault ?? 'ok'])
        }
        console.log(table(['database', 'services', 'added', 'state'], rows))
      }),
    )

  database
    .command('remove')
    .argument('<name>')
    .description('Forget a data database in which there are no services; what is in it stays as it is.')
    .addHelpText('after', examples(['database remove eu-2', 'database add makes it known again']))
    .action((name: string) =>
      withDatabase(async ({ control }) => {
        const found = (await listDatabases(control)).find(each => each.name === name)
        if (!found) throw new Error(`There is no database ${name}.`)
        if (found.services)
          throw new Error(`${found.services} services are in ${name}: remove them first (tillbridge service remove).`)
        await forgetDatabase(control, name)
        console.log(`The database ${name} is forgotten.`)
      }),
    )
}

/** A URL of a database as DATABASE_URL takes it. */
function urlIn(text: string): string {
  try {
    databaseSettings.DATABASE_URL.read(text)
    return text
  } catch (error) {
    throw new Error(`The URL ${(error as Error).message}.`)
  }
}
