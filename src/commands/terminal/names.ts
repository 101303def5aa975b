/** Throws if the name of a service or shard is invalid. */
export function requireName(of: 'service' | 'shard', name: string) {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error(`The name of a ${of} must have 1 to 60 characters: letters, digits, dots, dashes or underscores.`)
}
