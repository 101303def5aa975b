export const serviceOption = ['--service <name>', 'the service; not needed where there is only one'] as const
