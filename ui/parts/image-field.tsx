// Images that a message has.
import { useState } from 'preact/hooks'
import type { ChatImage } from '../chat-message.ts'

/** All formats and vendors know these. */
const TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** Of all images: in base64 they and the messages must fit into a request. */
const BYTES_MAX = 2 * 1024 * 1024

export interface ImageFieldProps {
  readonly images: readonly ChatImage[]
  readonly onImages: (images: readonly ChatImage[]) => void
}

export function ImageField({ images, onImages }: ImageFieldProps) {
  const [problem, setProblem] = useState('')
  const add = async (files: readonly File[]): Promise<void> => {
    const wrong = problemOf(files)
    setProblem(wrong)
    if (wrong === '') onImages(await Promise.all(files.map(imageOf)))
  }
  return (
    <>
      <label>
        Images
        <input
          type="file"
          multiple
          accept={TYPES.join(',')}
          onChange={({ currentTarget }) => {
            void add([...(currentTarget.files ?? [])])
            currentTarget.value = ''
          }}
        />
      </label>
      {images.length > 0 && (
        <p>
          {images.map(({ name }) => name).join(', ')}{' '}
          <button type="button" class="plain" onClick={() => onImages([])}>
            Remove images
          </button>
        </p>
      )}
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

function problemOf(files: readonly File[]): string {
  const other = files.find(({ type }) => !TYPES.includes(type))
  if (other !== undefined) return `${other.name} is not an image in PNG, JPEG, WebP or GIF.`
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return bytes > BYTES_MAX ? 'The images are larger than 2 MiB.' : ''
}

async function imageOf(file: File): Promise<ChatImage> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return { name: file.name, type: file.type, data: btoa(binary) }
}
