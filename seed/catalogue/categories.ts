import type { Category } from './category.ts'
import { others } from './others.ts'
import { tops } from './tops.ts'

/** The categories of the retailer. */
export const categories: readonly Category[] = [...tops, ...others]
