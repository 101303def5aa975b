import { Command as BaseCommand } from 'commander'

/** A command of `tillbridge`. Its subcommands have the same class. */
export class Command extends BaseCommand {
  override createCommand(name?: string) {
    return new Command(name)
  }

  /** Ends the help with examples. */
  examples(...examples: Parameters<typeof formatExamples>) {
    return this.addHelpText('after', formatExamples(...examples))
  }
}

export const formatExamples = (...lines: [command: string, description: string][]) =>
  `\nExamples:\n${lines.map(([command, result]) => `  $ tillbridge ${command}\n      ${result}`).join('\n')}\n`

export const serviceOption = ['--service <name>', 'the service (optional if there is only one)'] as const
