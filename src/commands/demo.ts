import { createDemoService } from '../runtime/installation/first-access.ts'
import type { Command } from './terminal/command.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { printCredentials } from './terminal/standard-output.ts'
import { requireName } from './terminal/validate-input.ts'

export const buildDemoCommand = (program: Command) =>
  program
    .command('demo')
    .argument('[name]', 'the service to create', 'demo')
    .description('Create a demo service')
    .examples(['demo playground', 'creates the service and its admin account, both named playground'])
    .action((name: string) => {
      requireName('service', name)
      const createDemo = async ({ control: db, keys }: Session) => {
        const password = await createDemoService({ db, keys }, name, line => console.log(line))
        console.log(`Demo service ${name} created. Account ${name} has the role admin.`)
        if (password) await printCredentials(name, password)
        else console.log(`Account ${name} existed already. To issue a new password: tillbridge account rotate ${name}`)
      }
      return withDatabase(createDemo, { canCreate: true })
    })
