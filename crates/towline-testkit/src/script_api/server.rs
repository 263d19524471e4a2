//! The listener: takes connections, within bounds, and gives each request to the routes.

use std::{sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

use super::{connection::Connection, routes, shared::Shared};

/// Serves until it is dropped, and all its connections with it.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(shared.options.most_connections));
    loop {
        // Further connections wait in the kernel's queue.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = accept(&listener).await;
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            converse(stream, shared).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // Out of file descriptors, or the client was gone already: neither is ours to solve, nor to spin on.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    // Events are small and must not wait for one another.
    stream.set_nodelay(true).ok();
    let header_time = shared.options.header_time;
    let connection = Connection::new(stream);
    let line = connection.line();
    let service = service_fn(move |request| {
        let (shared, line) = (Arc::clone(&shared), line.clone());
        async move { routes::answer(request, shared, line).await }
    });
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_time)
        .serve_connection(TokioIo::new(connection), service);
    // A client that breaks off, or is cut off: the record says so, and nobody else needs to know.
    conversation.await.ok();
}
