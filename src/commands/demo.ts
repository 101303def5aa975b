import type { Command } from 'commander'
import { makeDemo } from '../runtime/installation/first-access.ts'
import { printCredentials } from './terminal/credentials.ts'
import { examples } from './terminal/examples.ts'
import { requireName } from './terminal/names.ts'
import { type Session, withDatabase } from './terminal/session.ts'

export const demoCommand = (program: Command) =>
  program
    .command('demo')
    .argument('[name]', 'the service to make', 'demo')
    .description('Make a further service with a demo shop, and an account for it.')
    .addHelpText(
      'after',
      examples(['demo playground', 'a service playground, and an account playground that is its admin']),
    )
    .action((name: string) => {
      requireName('service', name)
      const making = async ({ control: db, keys }: Session) => {
        const password = await makeDemo({ db, keys }, name, line => console.log(line))
        console.log(`${name} is admin of ${name}.`)
        if (password) await printCredentials(name, password)
        else console.log(`The account was there before; a further password: tillbridge user rotate ${name}`)
      }
      return withDatabase(making, { mayMake: true })
    })
