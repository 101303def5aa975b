import type { Category } from './category.ts'
import { others } from './others.ts'
import { tops } from './tops.ts'

/** What the retailer sells. */
export const categories: readonly Category[] = [...tops, ...others]
