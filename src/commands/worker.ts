import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { work } from '../runtime/main.ts'
import { whereMailGoes } from './start.ts'
import { examples } from './terminal/examples.ts'

export const workerCommand = (program: Command) =>
  program
    .command('worker')
    .description(
      'Do jobs (e-mails and the like) in a process of its own, beside processes that are started with RUN_JOBS=false.',
    )
    .addHelpText('after', examples(['worker', 'several may run: each job is done by one of them']))
    .action(async () => {
      const config = readConfig()
      await work(config, {
        onReady: () => console.log(`The worker does jobs.\n${whereMailGoes(config)}\nCtrl-C stops it.`),
      })
    })
