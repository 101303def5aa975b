import { readConfig } from '../config/config.ts'
import { startJobProcess } from '../runtime/main.ts'
import { describeEmailDelivery } from './start.ts'
import type { Command } from './terminal/command.ts'

export const buildWorkerCommand = (program: Command) =>
  program
    .command('worker')
    .description('Run background jobs in a separate process')
    .examples(['worker', 'runs next to servers with RUN_JOBS=false; several workers share the jobs'])
    .action(async () => {
      const config = readConfig()
      await startJobProcess(config, {
        onReady: () => console.log(`Worker started.\n${describeEmailDelivery(config)}\nPress Ctrl-C to stop.`),
      })
    })
