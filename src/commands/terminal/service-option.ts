export const serviceOption = ['--service <name>', 'the service (optional if there is only one)'] as const
